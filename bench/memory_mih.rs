// Searches by mih-rs: as memory.h says, for the programs in C++.
// SPDX-License-Identifier: PostgreSQL

use std::{env, fs, io, io::Read};

fn read_codes(text: &str) -> Vec<u64> {
    let values = text.split_whitespace();
    values.map(|v| v.parse::<i64>().unwrap() as u64).collect()
}

// Nanoseconds of the processor that this process has had.
fn clock() -> u64 {
    let text = fs::read_to_string("/proc/self/schedstat").unwrap();
    text.split(' ').next().unwrap().parse().unwrap()
}

fn main() {
    let arguments: Vec<String> = env::args().collect();
    let queries = read_codes(&fs::read_to_string(&arguments[1]).unwrap());
    let mut text = String::new();
    io::stdin().read_to_string(&mut text).unwrap();
    let index = mih_rs::Index::new(read_codes(&text)).unwrap();
    let mut range = index.range_searcher();
    let mut nearest = index.topk_searcher();

    for argument in &arguments[2..] {
        let (k, n) = argument.split_once(',').unwrap();
        let k: usize = k.trim_start_matches('+').parse().unwrap();
        let n: usize = n.parse().unwrap();
        let mut search = |q: u64| -> usize {
            if argument.starts_with('+') {
                let found = nearest.run(q, k).iter();
                found.map(|&i| mih_rs::hamdist(index.codes()[i as usize], q)).sum()
            } else {
                range.run(q, k).len()
            }
        };
        // The first round warms up.
        for &q in &queries[..n / 10] {
            search(q);
        }
        let begin = clock();
        let found: usize = queries[..n].iter().map(|&q| search(q)).sum();
        let us = (clock() - begin) as f64 / 1e3 / n as f64;
        println!("{} {:.2} {}", argument, us, found);
    }
}
