// What a file of the tree says of a command that it refused.

import { readFile } from './server.js';
import { mistakeIn } from './tree_files.js';

// What its error_log says of it, else what the error says.
export async function sayWhy(mistake, error, log, command) {
  const text = await readFile(log).catch(() => '');
  mistake.say(mistakeIn(text, command) || error.message);
}
