import pytest
from processes import FakeModel, NetaClaw


@pytest.fixture(scope="session")
def model():
    fake = FakeModel()
    yield fake
    fake.close()


@pytest.fixture(scope="session")
def netaclaw(model):
    """A server whose default agent asks the fake model."""
    netaclaw = NetaClaw()
    url = model.addresses["openai"]
    netaclaw.run("channel", "add", "fake", "--supplier", "compatible", "--base-url", url, "--model", "m", "--default")
    netaclaw.serve()
    yield netaclaw
    netaclaw.close()
