"""What can go wrong between us and a model.

LLMError
├── UnknownModel            no profile, no provider of that name (suggests the nearest)
├── MissingCredential       says which variable to set
├── AuthenticationFailed    401/403: names the credential to fix
├── InvalidRequest          400: the provider's own words
│   └── PromptTooLong       recoverable by compaction
│       └── MediaRefused    recoverable by leaving pictures and documents out
├── ProviderUnavailable     after the retry layer gave up
│   ├── RateLimited         429
│   ├── Overloaded          529/503 overload; three in a row switch to the fallback model
│   ├── ServerFailed        other 5xx, 408, 409
│   └── ConnectionFailed    refused, DNS, TLS, proxy, timeout: each with its own words
├── BadResponse             200 with HTML, wrong content type, malformed body
└── StreamBroken            the stream ended or broke before the reply was complete
    └── EmptyReply          it ended in order and held nothing
"""


class LLMError(Exception):
    """`str(error)` is one line for a person: what happened and what to do. It never holds a credential."""

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        request_id: str = "",
        retryable: bool | None = None,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.request_id = request_id
        self.retryable = retryable
        """What the server, or the kind of failure, says about trying again; None: the class decides."""
        self.retry_after_s = retry_after_s
        """How long the server asked us to wait."""


class UnknownModel(LLMError):
    """No such provider or model."""


class MissingCredential(LLMError):
    """The provider needs a key that is not set."""


class AuthenticationFailed(LLMError):
    """The provider refused the credential."""


class InvalidRequest(LLMError):
    """The provider refused the request."""


class PromptTooLong(InvalidRequest):
    """The request does not fit the model's window."""


class MediaRefused(PromptTooLong):
    """A picture or document is too large, too many, or not to be read."""


class ProviderUnavailable(LLMError):
    """Retries are exhausted."""


class RateLimited(ProviderUnavailable):
    """429 until the end."""


class Overloaded(ProviderUnavailable):
    """The provider has no capacity."""


class ServerFailed(ProviderUnavailable):
    """The provider failed."""


class ConnectionFailed(ProviderUnavailable):
    """No usable connection to the configured host."""


class BadResponse(LLMError):
    """The answer is not what the dialect promises."""


class StreamBroken(LLMError):
    """The stream ended early, stalled, or was malformed."""


class EmptyReply(StreamBroken):
    """The reply ended in order, and nothing was said or called in it."""
