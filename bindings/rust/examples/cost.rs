//! What an event costs: `cost [TURNS]` prints nanoseconds for an empty turn and for one that emits, of 20 rounds the
//! best: what others add, while they have the processor, is not the event's.
use std::env;
use std::ptr::read_volatile;
use std::time::Instant;

landtrace::event! { cost(a: u64, b: u64) }

fn time(turns: u64, turn: impl Fn(u64)) -> f64 {
    let begin = Instant::now();
    for i in 0..turns {
        turn(unsafe { read_volatile(&i) });
    }
    begin.elapsed().as_nanos() as f64 / turns as f64
}

fn main() {
    const ROUNDS: u64 = 20;
    let turns = env::args().nth(1).map_or(10_000_000, |text| text.parse().expect("a number of turns")) / ROUNDS;
    let (mut empty, mut emitted) = (f64::MAX, f64::MAX);
    for _ in 0..ROUNDS {
        empty = empty.min(time(turns, |_| ()));
        emitted = emitted.min(time(turns, |i| {
            cost::emit(i, i);
        }));
    }
    println!("{empty:.2} {emitted:.2}");
}
