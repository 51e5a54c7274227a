use super::*;

const AUTO: CompactionReason = CompactionReason::Auto;
const OVERFLOW: CompactionReason = CompactionReason::Overflow;
const MANUAL: CompactionReason = CompactionReason::Manual;

fn at(now_ms: i64, used: u64) -> BreakerInput<'static> {
    BreakerInput {
        now_ms,
        used,
        window: 10_000,
        model: "m",
    }
}

/// One attempt to its end.
fn attempt(
    breaker: &mut Breaker,
    moment: BreakerInput<'_>,
    ended: AttemptEnd,
) -> Result<(), Blocked> {
    breaker.begin(AUTO, moment)?;
    breaker.ended(AUTO, ended, moment);
    Ok(())
}

#[test]
fn an_attempt_is_proven_by_an_answer_before_the_next() {
    let mut breaker = Breaker::default();
    attempt(&mut breaker, at(0, 8000), AttemptEnd::Gained).unwrap();
    assert_eq!(
        attempt(&mut breaker, at(1, 8000), AttemptEnd::Gained),
        Err(Blocked::Unproven)
    );
    // The model says that it is still too long: once more, and not again.
    breaker.begin(OVERFLOW, at(2, 8000)).unwrap();
    breaker.ended(OVERFLOW, AttemptEnd::Gained, at(2, 8000));
    assert_eq!(breaker.begin(OVERFLOW, at(3, 8000)), Err(Blocked::Unproven));
    breaker.answered();
    attempt(&mut breaker, at(4, 8000), AttemptEnd::Gained).unwrap();
}

#[test]
fn what_saves_too_little_waits_for_growth_and_pauses_the_second_time() {
    let mut breaker = Breaker::default();
    attempt(&mut breaker, at(0, 8000), AttemptEnd::NoGain).unwrap();
    breaker.answered();
    assert_eq!(
        attempt(&mut breaker, at(1, 8700), AttemptEnd::NoGain),
        Err(Blocked::NotGrown)
    );
    attempt(&mut breaker, at(2, 8800), AttemptEnd::NoGain).unwrap();
    breaker.answered();
    let paused = Err(Blocked::Paused(PauseCause::Ineffective));
    assert_eq!(
        attempt(&mut breaker, at(3, 8900), AttemptEnd::NoGain),
        paused
    );
    assert_eq!(
        breaker.begin(OVERFLOW, at(3, 8900)),
        Ok(()),
        "the model knows"
    );
}

#[test]
fn a_pause_ends_by_time_growth_another_model_or_by_hand() {
    let paused = || {
        let mut breaker = Breaker::default();
        attempt(&mut breaker, at(0, 8000), AttemptEnd::NoGain).unwrap();
        breaker.answered();
        attempt(&mut breaker, at(0, 8800), AttemptEnd::NoGain).unwrap();
        breaker.answered();
        breaker
    };
    let blocked = Err(Blocked::Paused(PauseCause::Ineffective));
    assert_eq!(paused().begin(AUTO, at(PAUSE_MS - 1, 9000)), blocked);
    assert_eq!(paused().begin(AUTO, at(PAUSE_MS, 9000)), Ok(()));
    assert_eq!(paused().begin(AUTO, at(1, 9800)), Ok(()));
    let other = BreakerInput {
        model: "n",
        ..at(1, 9000)
    };
    assert_eq!(paused().begin(AUTO, other), Ok(()));
    let mut breaker = paused();
    breaker.begin(MANUAL, at(1, 9000)).unwrap();
    breaker.ended(MANUAL, AttemptEnd::Gained, at(1, 9000));
    assert_eq!(breaker.begin(AUTO, at(2, 9000)), Ok(()));

    // Half open: an unsuccessful attempt restarts the pause, a successful one ends it.
    let mut breaker = paused();
    attempt(&mut breaker, at(PAUSE_MS, 9000), AttemptEnd::NoGain).unwrap();
    breaker.answered();
    assert_eq!(breaker.begin(AUTO, at(PAUSE_MS + 1, 9000)), blocked);
    attempt(&mut breaker, at(2 * PAUSE_MS, 9000), AttemptEnd::Gained).unwrap();
    breaker.answered();
    assert_eq!(breaker.begin(AUTO, at(2 * PAUSE_MS + 1, 9000)), Ok(()));
}

#[test]
fn a_failure_cools_down_longer_each_time_and_says_until_when() {
    let mut breaker = Breaker::default();
    attempt(&mut breaker, at(0, 8000), AttemptEnd::Failed).unwrap();
    breaker.answered();
    let until_ms = COOL_DOWN_MS;
    assert_eq!(breaker.cools_until_ms(), Some(until_ms));
    assert_eq!(
        breaker.begin(AUTO, at(1, 8000)),
        Err(Blocked::CoolingDown { until_ms })
    );
    attempt(&mut breaker, at(COOL_DOWN_MS, 8000), AttemptEnd::Failed).unwrap();
    assert_eq!(breaker.cools_until_ms(), Some(3 * COOL_DOWN_MS));
    breaker.answered();
    attempt(&mut breaker, at(3 * COOL_DOWN_MS, 8000), AttemptEnd::Gained).unwrap();
    assert_eq!(breaker.cools_until_ms(), None);
}

#[test]
fn success_too_often_pauses_as_well() {
    let mut breaker = Breaker::default();
    for n in 0..3 {
        attempt(&mut breaker, at(n, 8000), AttemptEnd::Gained).unwrap();
        breaker.answered();
    }
    let paused = Err(Blocked::Paused(PauseCause::TooOften));
    assert_eq!(
        attempt(&mut breaker, at(4, 8000), AttemptEnd::Gained),
        paused
    );

    assert_eq!(
        breaker.begin(OVERFLOW, at(5, 8000)),
        paused,
        "also where the model says so, so soon"
    );
    for _ in 0..ANSWERS_BETWEEN {
        breaker.answered();
    }
    assert_eq!(breaker.begin(OVERFLOW, at(6, 8000)), Ok(()));

    let mut breaker = Breaker::default();
    for n in 0..4 {
        breaker.on_user_message();
        attempt(&mut breaker, at(n, 8000), AttemptEnd::Gained).unwrap();
        breaker.answered();
    }
    breaker.on_user_message();
    assert_eq!(
        attempt(&mut breaker, at(5, 8000), AttemptEnd::Gained),
        paused,
        "four in twenty answers"
    );
}

#[test]
fn a_model_that_never_answers_is_tried_again_later_or_when_it_is_another() {
    let mut breaker = Breaker::default();
    for n in 0..2 {
        breaker.begin(OVERFLOW, at(n, 8000)).unwrap();
        breaker.ended(OVERFLOW, AttemptEnd::Failed, at(n, 8000));
    }
    let unproven = Err(Blocked::Unproven);
    assert_eq!(breaker.begin(OVERFLOW, at(2, 8000)), unproven);
    let other = BreakerInput {
        model: "other",
        ..at(3, 8000)
    };
    assert_eq!(breaker.clone().begin(OVERFLOW, other), Ok(()));
    assert_eq!(breaker.begin(OVERFLOW, at(1 + PAUSE_MS, 8000)), Ok(()));
    assert_eq!(
        breaker.begin(OVERFLOW, at(2 + PAUSE_MS, 8000)),
        unproven,
        "one by one from then on"
    );
}

#[test]
fn what_is_kept_of_it_goes_on_as_it_would_have() {
    let mut breaker = Breaker::default();
    breaker.answered();
    breaker.on_user_message();
    assert!(breaker.is_fresh());
    for n in 0..3 {
        attempt(&mut breaker, at(n, 8000), AttemptEnd::Gained).unwrap();
        breaker.answered();
        assert!(!breaker.is_fresh());
    }
    let json = serde_json::to_string(&breaker).unwrap();
    let mut kept: Breaker = serde_json::from_str(&json).unwrap();
    assert_eq!(kept, breaker);
    let paused = Err(Blocked::Paused(PauseCause::TooOften));
    assert_eq!(kept.begin(AUTO, at(4, 8000)), paused);
    let json = serde_json::to_string(&kept).unwrap();
    let mut kept: Breaker = serde_json::from_str(&json).unwrap();
    assert_eq!(kept.begin(AUTO, at(5, 8000)), paused);
    kept.ended(MANUAL, AttemptEnd::Gained, at(6, 4000));
    assert!(kept.is_fresh(), "success by hand closes it");
}

/// However often a full context is checked, and whatever the outcome: in an hour of nothing but
/// that, the attempts stay few.
#[test]
fn attempts_are_bounded_whatever_happens() {
    for ended in [AttemptEnd::Gained, AttemptEnd::NoGain, AttemptEnd::Failed] {
        for answers in [false, true] {
            let mut breaker = Breaker::default();
            let mut begun = 0;
            for second in 0..3600 {
                begun += u32::from(attempt(&mut breaker, at(second * 1000, 8000), ended).is_ok());
                if answers {
                    breaker.answered();
                }
            }
            assert!(begun <= 12, "{ended:?} {answers}: {begun}");
            assert!(begun >= 1);
        }
    }
}
