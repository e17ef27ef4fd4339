//! Emits events of every kind of field: `requests [COUNT]`, and says how many had a listener.
use std::env;

landtrace::event! {
    /// A request was answered.
    pub req_done(id: u32, route: str)
}

landtrace::event! {
    sample(small: u8, negative: i8, medium: u16, large: u64, low: i64, is_set: bool, part: f32, whole: f64,
           name: [char; 8], text: str, bytes: [u8], r#type: i32)
}

landtrace::event! { tick() }

fn main() {
    let count = env::args().nth(1).map_or(3, |text| text.parse().expect("a count"));
    for event in [req_done::registration(), sample::registration(), tick::registration()] {
        assert_eq!(event, 0, "an event is refused");
    }
    let (mut heard, mut made) = (0, 0);
    let mut route = |id| {
        made += 1;
        format!("/item/{id}")
    };
    for id in 0..count {
        heard += u32::from(landtrace::emit!(req_done, id, &route(id)));
    }
    assert_eq!(made, heard, "a value is made for nobody");
    sample::emit(200, -3, 65535, 1 << 40, i64::MIN, true, 0.5, -2.25, "cut at eight", "text", &[1, 0xfe], -5);
    sample::emit(0, 0, 0, 0, 0, false, 0.0, 0.0, "", "", &[], 0);
    tick::emit();
    let too_large = "x".repeat(landtrace::MAX_PAYLOAD);
    assert!(!req_done::emit(0, &too_large));
    // This program has no other thread. A shared library does so before it is unloaded.
    assert_eq!(unsafe { tick::unregister() }, 0);
    println!("{heard} of {count} had a listener");
}
