"""From what a server answered to the error that says it: one line, what to do next, never a credential."""

import re
from calendar import timegm
from collections.abc import Mapping
from typing import Any, cast

import msgspec

from clew.llm.errors import (
    AuthenticationFailed,
    BadResponse,
    ConnectionFailed,
    InvalidRequest,
    LLMError,
    MediaRefused,
    Overloaded,
    PromptTooLong,
    RateLimited,
    ServerFailed,
)
from clew.llm.models.target import Target
from clew.text.redact import redact

# Plain strings: they are compiled when something fails, not when the program starts.
TOO_LONG = (
    r"(?i)prompt is too long|context[ _]length|context window|maximum context|too many tokens|input is too long"
    r"|input token count|exceeds? the (?:available )?context|request_too_large|maximum prompt length"
    r"|reduce the length of the (?:messages|prompt)|tokens? limit exceeded|larger than the context"
)
MEDIA = (
    r"(?i)\b(?:images?|pictures?|pdfs?|documents?|media)\b[^.]{0,80}"
    r"\b(?:exceed|too (?:large|big|many)|larger than|unsupported|not supported|could not|cannot|invalid|dimension)"
    r"|could not (?:process|decode|read) (?:the )?(?:image|pdf|document)"
    r"|(?:too many|unsupported|invalid) (?:images?|pdfs?|media)"
)
CUT_OFF = (
    r"(?i)\btokens? limit (?:was |has been )?reached|\bmax(?:imum)?[ _](?:output[ _])?tokens (?:was |were )?reached"
)
STATUS_KEYS = ("status_code", "http_status", "http_code", "status", "code", "type")
"""Where an error object says what it would have been as an answer of its own."""
OVERLOAD = r"(?i)overload|capacity|unavailable|high demand|try again later"
QUOTA = r"(?i)insufficient_quota|exceeded your current quota|billing|credit balance|insufficient balance"
KEYLIKE = r"\b(?:sk|pk|rk|gsk|xai|key)-[A-Za-z0-9_*.-]{6,}|\bAIza[A-Za-z0-9_*-]{8,}"

SECONDS = r"[0-9]{1,12}(\.[0-9]*)?|\.[0-9]+"

MIN_KEY_CHARS = 6
"""A shorter "key", as local servers get, is no secret and would only cut words apart."""

STREAM_STATUS = {
    "overloaded_error": 529,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "api_error": 500,
    "server_error": 500,
    "timeout_error": 504,
    "authentication_error": 401,
    "permission_error": 403,
    "invalid_request_error": 400,
    "invalid_prompt": 400,
    "context_length_exceeded": 400,
    "tool_use_failed": 400,
    "invalid_request": 400,
    "BadRequestError": 400,
    "not_found_error": 404,
    "NotFoundError": 404,
    "request_too_large": 413,
    "insufficient_quota": 429,
    "overloaded": 529,
    "server_overloaded": 529,
    "INVALID_ARGUMENT": 400,
    "FAILED_PRECONDITION": 400,
    "UNAUTHENTICATED": 401,
    "PERMISSION_DENIED": 403,
    "NOT_FOUND": 404,
    "RESOURCE_EXHAUSTED": 429,
    "UNAVAILABLE": 503,
    "DEADLINE_EXCEEDED": 504,
}
"""What an error inside a stream would have been as a status."""


def failure_of(status: int, headers: Mapping[str, str], body: bytes, target: Target, *, now_s: float) -> LLMError:
    """The error behind a status that is not 200. `now_s` is wall time, for a Retry-After that names a moment."""
    if 300 <= status < 400:
        return _redirected(status, headers, target)
    kind, words = error_words(body)
    error = _classify(status, kind, words, target, retry_after_s(headers, now_s))
    error.request_id = request_id_of(headers)
    should = headers.get("x-should-retry", "").lower()
    if should in ("true", "false"):
        error.retryable = should == "true"
    return error


def failure_in_stream(data: Mapping[str, Any], target: Target) -> LLMError:
    """The error an event of a stream reports."""
    kind, words = _words_in(data)
    return _classify(status_in_stream(data), kind, words, target, None)


def status_in_stream(data: Mapping[str, Any]) -> int:
    """The status that an error object has: its own number, else what its words stand for, else 500."""
    said = [part.get(key) for part in (_obj(data.get("error")), data) for key in STATUS_KEYS]
    numbers = (int(one) for one in said if isinstance(one, int) or (isinstance(one, str) and one.isdecimal()))
    if number := next((number for number in numbers if 400 <= number <= 599), 0):
        return number
    return next((STREAM_STATUS[one] for one in said if isinstance(one, str) and one in STREAM_STATUS), 500)


def is_cut_off(data: Mapping[str, Any]) -> bool:
    """Whether an error object only says that the reply became as long as it may be."""
    return re.search(CUT_OFF, _words_in(data)[1]) is not None


def _classify(status: int, kind: str, words: str, target: Target, retry_after_s: float | None) -> LLMError:
    said = f": {words}" if (words := _clean(words, target)) else ""
    who = f"{target.provider} ({target.model})"
    text = f"{kind} {words}"
    if status in (400, 413, 422) and re.search(MEDIA, text):
        return MediaRefused(f"{who} does not take a picture or document of this conversation{said}", status=status)
    if status == 413 or (status in (400, 422, 500) and re.search(TOO_LONG, text)):
        return PromptTooLong(f"the conversation does not fit the window of {target.name}{said}", status=status)
    if status in (401, 403):
        hint = f"{target.key_advice}, or choose another model"
        words = f"{target.provider} refused {target.key_words} (HTTP {status}){said}; {hint}"
        return AuthenticationFailed(words, status=status)
    if status == 407:
        return ConnectionFailed(
            "the proxy asks for a login (HTTP 407); put user and password into HTTPS_PROXY or HTTP_PROXY",
            status=status,
            retryable=False,
        )
    if status == 429:
        spent = bool(re.search(QUOTA, text))
        hint = "check the plan and the balance of the account" if spent else "wait, or lower the rate of requests"
        message = f"{who} limits the rate of requests (HTTP 429){said}; {hint}"
        return RateLimited(message, status=status, retry_after_s=retry_after_s, retryable=False if spent else None)
    if status == 529 or (status == 503 and re.search(OVERLOAD, text)):
        message = f"{who} is overloaded (HTTP {status}){said}; try again, or choose another model"
        return Overloaded(message, status=status, retry_after_s=retry_after_s)
    if status in (408, 409) or status >= 500:
        message = f"{who} failed (HTTP {status}){said}; try again"
        return ServerFailed(message, status=status, retry_after_s=retry_after_s)
    if status == 404:
        hint = "check the model's name and the base URL"
        return InvalidRequest(f"{host_of(target)} knows no such address or model (HTTP 404){said}; {hint}", status=404)
    return InvalidRequest(f"{who} refused the request (HTTP {status}){said}", status=status)


def _redirected(status: int, headers: Mapping[str, str], target: Target) -> LLMError:
    """Keys stay with the configured host, so redirects are never followed."""
    there = headers.get("location", "").partition("://")[2].partition("/")[0].rpartition("@")[2]
    where = f" to {there}" if there else ""
    return BadResponse(
        f"{host_of(target)} redirects{where} (HTTP {status}), which is not followed; set the final address as base URL",
        status=status,
    )


def not_a_model(content_type: str, start: bytes, target: Target, *, wanted: str) -> BadResponse:
    """A 200 that no model server sends: a captive portal, a wrong address, a proxy's page."""
    kind = content_type.partition(";")[0].strip() or "no content type"
    if "html" in kind or start.lstrip()[:1] == b"<":
        return BadResponse(
            f"{host_of(target)} answered with a web page instead of a model's reply; check the base URL, and whether "
            "the network wants a login",
            status=200,
        )
    return BadResponse(f"{host_of(target)} answered with {kind} instead of {wanted}; check the base URL", status=200)


def error_words(body: bytes) -> tuple[str, str]:
    """Kind and message of an error body, whatever its shape."""
    try:
        data = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        text = body[:2000].decode("utf-8", "replace")
        return "", "" if text.lstrip().startswith("<") else text
    if isinstance(data, list) and data:  # Gemini streams errors as a list of one
        data = cast(list[Any], data)[0]
    return _words_in(_obj(data))


def _words_in(data: Mapping[str, Any]) -> tuple[str, str]:
    error = data.get("error")
    inner = _obj(error)
    kind = next(
        (v for v in (inner.get("code"), inner.get("type"), inner.get("status"), data.get("code")) if _word(v)), ""
    )
    words = error if isinstance(error, str) else inner.get("message") or data.get("message") or data.get("detail") or ""
    return str(kind), words if isinstance(words, str) else msgspec.json.encode(words).decode()


def _word(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _obj(value: Any) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def _clean(words: str, target: Target) -> str:
    """One line, of bounded length, without anything that looks like a key."""
    for secret in (target.key, *target.key_parts):
        if len(secret.reveal()) >= MIN_KEY_CHARS:
            words = words.replace(secret.reveal(), "…")
    words = " ".join(re.sub(KEYLIKE, "…", redact(words)).split())
    return words if len(words) <= 300 else words[:299] + "…"


def host_of(target: Target) -> str:
    """Host and port of the base URL, without a user part."""
    return target.base_url.partition("://")[2].partition("/")[0].rpartition("@")[2] or target.base_url


def request_id_of(headers: Mapping[str, str]) -> str:
    """The provider's id of this request, for its support."""
    names = ("request-id", "x-request-id", "x-amzn-requestid", "apim-request-id")
    return next((headers[name] for name in names if headers.get(name)), "")


def retry_after_s(headers: Mapping[str, str], now_s: float) -> float | None:
    """How long the server asks us to wait, given in milliseconds, seconds or as a date."""
    if re.fullmatch(SECONDS, millis := headers.get("retry-after-ms", "")):
        return float(millis) / 1000
    text = headers.get("retry-after", "").strip()
    if re.fullmatch(SECONDS, text):
        return float(text)
    moment = _http_date(text)
    return _reset_s(headers, now_s) if moment is None else max(0.0, moment - now_s)


def _reset_s(headers: Mapping[str, str], now_s: float) -> float | None:
    """When the limit that was reached is over, as headers beside `retry-after` tell it: of those of which nothing is
    left, the one that lasts longest. A moment as a number or a date, or a time such as `6m0s`."""
    found: list[float] = []
    for name, value in headers.items():
        named = re.fullmatch(r"(anthropic-ratelimit|x-ratelimit)-(?:reset-)?([a-z-]+?)(?:-reset)?", name)
        if named is None or "reset" not in name:
            continue
        spellings = (f"{named[1]}-{named[2]}-remaining", f"{named[1]}-remaining-{named[2]}")
        left = next((headers[one].strip() for one in spellings if one in headers), "")
        rejected = headers.get(f"{named[1]}-{named[2]}-status", "").strip() == "rejected"
        if (left == "0" or rejected) and (wait_s := _wait_s(value.strip(), now_s)) is not None:
            found.append(wait_s)
    return max(found, default=None)


def _wait_s(text: str, now_s: float) -> float | None:
    """A time from now: seconds since 1970, a date of RFC 3339, or hours, minutes and seconds."""
    if re.fullmatch(SECONDS, text):
        number = float(text)
        return max(0.0, number - now_s) if number > 1e9 else number
    if found := re.fullmatch(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s)?(?:(\d+)ms)?", text):
        hours, minutes, seconds, millis = (float(one or 0) for one in found.groups())
        return hours * 3600 + minutes * 60 + seconds + millis / 1000 if any(found.groups()) else None
    date = re.fullmatch(r"([1-9]\d{3})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.\d+)?Z", text)
    return max(0.0, timegm(tuple(int(one) for one in date.groups())) - now_s) if date is not None else None


def _http_date(text: str) -> float | None:
    """`Wed, 21 Oct 2026 07:28:00 GMT`, whatever the locale."""
    found = re.fullmatch(r"\w{3}, (\d{2}) (\w{3}) ([1-9]\d{3}) (\d{2}):(\d{2}):(\d{2}) GMT", text)
    months = "JanFebMarAprMayJunJulAugSepOctNovDec"
    if found is None or (month := months.find(found[2])) < 0:
        return None
    day, year, hour, minute, second = (int(found[group]) for group in (1, 3, 4, 5, 6))
    return timegm((year, month // 3 + 1, day, hour, minute, second))
