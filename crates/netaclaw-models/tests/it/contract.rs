//! The contract, kept by every client.

mod openai {
    use crate::harness::HttpHarness;
    use netaclaw_protocol::Supplier;
    use netaclaw_testkit::fake_model::Chunking;

    // DeepSeek's form of thinking is the strictest of those that copy the API.
    netaclaw_models::contract_suite!(every: HttpHarness::new(Supplier::Openai, Chunking::Events).await);
    netaclaw_models::contract_suite!(arranged: HttpHarness::new(Supplier::Compatible, Chunking::Events).await);
    netaclaw_models::contract_suite!(wire: HttpHarness::new(Supplier::Deepseek, Chunking::Events).await);
}

mod openai_in_pieces {
    use crate::harness::HttpHarness;
    use netaclaw_protocol::Supplier;
    use netaclaw_testkit::fake_model::Chunking;

    netaclaw_models::contract_suite!(arranged: HttpHarness::new(Supplier::Compatible, Chunking::Hostile(7)).await);
}

mod anthropic {
    use crate::harness::HttpHarness;
    use netaclaw_protocol::Supplier;
    use netaclaw_testkit::fake_model::Chunking;

    netaclaw_models::contract_suite!(every: HttpHarness::new(Supplier::Anthropic, Chunking::Events).await);
    netaclaw_models::contract_suite!(arranged: HttpHarness::new(Supplier::Anthropic, Chunking::Events).await);
    netaclaw_models::contract_suite!(wire: HttpHarness::new(Supplier::Anthropic, Chunking::Events).await);
}

mod anthropic_in_pieces {
    use crate::harness::HttpHarness;
    use netaclaw_protocol::Supplier;
    use netaclaw_testkit::fake_model::Chunking;

    netaclaw_models::contract_suite!(arranged: HttpHarness::new(Supplier::Anthropic, Chunking::Hostile(7)).await);
}

mod demo {
    use crate::harness::DemoHarness;

    netaclaw_models::contract_suite!(every: DemoHarness);
}

mod scripted {
    use crate::harness::ScriptedHarness;

    netaclaw_models::contract_suite!(every: ScriptedHarness::new());
    netaclaw_models::contract_suite!(arranged: ScriptedHarness::new());
}
