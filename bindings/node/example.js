// Events of this program; events.c beside this file says how the add-on is built.
const { reqDone } = require(process.env.EVENTS_ADDON || './events.node');

let heard = 0;
for (let id = 0; id < 3; ++id) {
  if (reqDone(id, '/item/' + id)) ++heard;
}
console.log(heard + ' of 3 had a listener');
