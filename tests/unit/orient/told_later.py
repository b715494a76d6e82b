"""More sessions and recaps of them, true and false; each batch was written before the verifier was run on it."""

# ruff: noqa: E501 - one recap a line, as a model writes it
from unit.ledger.talk import Talk

from .told_sessions import Told


def _export() -> Talk:
    talk = Talk().user(
        "The nightly export job crashes with MemoryError on big tenants. Make export_orders stream rows instead of loading everything."
    )
    talk.call("Read", file_path="/p/jobs/export.py").result("rows = session.query(Order).all()")
    talk.call("Grep", pattern="export_orders").result("jobs/export.py:31\njobs/cli.py:12")
    talk.edit("/p/jobs/export.py", "query(Order).all()", "query(Order).yield_per(500)")
    talk.bash("pytest -q tests/jobs", "7 passed in 2.1s")
    talk.bash("python -m jobs.cli export --tenant demo", "exported 120000 rows, peak 85 MB")
    return talk.agent(
        "`export_orders` now streams rows with `yield_per(500)` and writes them as they come, so memory no longer grows with the tenant. A run on the demo tenant peaked at 85 MB for 120000 rows; the 7 job tests pass. The CSV format is unchanged. I have not touched the retry logic in cli.py."
    )


def _dark_mode() -> Talk:
    talk = Talk().user("Add dark mode to the settings page and remember the choice.")
    talk.write("/p/src/theme/useTheme.ts", "export function useTheme").edit("/p/src/pages/Settings.tsx").edit(
        "/p/src/styles/tokens.css"
    )
    talk.bash("npm test", "Tests: 1 failed, 41 passed, 42 total", error=True)
    talk.agent("The snapshot of Settings fails because of the new toggle; I update it.")
    talk.bash("npm test -- -u", "Tests: 42 passed, 42 total")
    talk.agent(
        "Dark mode is in: a toggle on the settings page, stored in localStorage under `theme`, with system preference as the default. Snapshot updated, all 42 tests pass."
    )
    talk.user("Contrast of the disabled buttons is too low in dark.").edit("/p/src/styles/tokens.css")
    return talk.agent(
        "I raised the disabled text token from 0.38 to 0.60 opacity in dark mode only; light mode keeps its value. Contrast is now 4.6:1. I did not run the tests again since only CSS changed. Shall I commit?"
    )


def _slow_search() -> Talk:
    talk = Talk().user("Why is GET /search slow since Monday?")
    talk.bash("git log --since=monday --oneline", "a1b2c3d Sort search results by relevance\n9f8e7d6 Bump redis client")
    talk.bash("psql -c 'explain analyze select ...'", "Seq Scan on documents (rows=2400000) 1830 ms")
    return talk.agent(
        "The relevance sort (a1b2c3d) calls `ts_rank` on every row, and the GIN index on documents.body_tsv was dropped by migration 0042 last week, so Postgres scans 2.4 million rows (1.8 s). The redis bump is innocent. Recreating the index should bring it back under 50 ms; I have changed nothing. Do you want a migration for it?"
    )


def _upgrade() -> Talk:
    talk = Talk().user("Upgrade Django from 4.2 to 5.1 and fix what breaks.")
    talk.edit("/p/requirements.txt", "Django==4.2", "Django==5.1").bash(
        "pip install -r requirements.txt", "Successfully installed Django-5.1"
    )
    talk.bash("pytest -q", "12 failed, 340 passed in 40s", error=True)
    talk.edit("/p/core/forms.py").edit("/p/core/middleware.py").bash(
        "pytest -q", "3 failed, 349 passed in 41s", error=True
    )
    talk.agent(
        "Nine of the twelve failures came from the removed `pytz` support and are fixed. Three tests in test_storage.py still fail: `get_storage_class` is gone in 5.1."
    )
    return (
        talk.user("ok go on")
        .call("Edit", file_path="/p/core/storage.py", old_string="get_storage_class", new_string="storages")
        .note("interrupted", "")
    )


def _bucket() -> Talk:
    talk = Talk().user("Publish the docs to the staging bucket")
    talk.bash("mkdocs build", "INFO - Documentation built in 3.1 seconds")
    talk.call("Bash", command="aws s3 sync site s3://docs-staging").approval(
        "deny", subject="aws s3 sync site s3://docs-staging"
    )
    talk.result("The user does not want to run this", error=True)
    talk.agent("You declined the sync, so nothing was uploaded. The site is built in ./site.")
    talk.user("wrong bucket, use docs-preview").bash(
        "aws s3 sync site s3://docs-preview", "upload: site/index.html to s3://docs-preview/index.html"
    )
    return talk.agent(
        "The docs are now in s3://docs-preview (one file changed, index.html). docs-staging was not touched."
    )


def _guide() -> Talk:
    talk = Talk().user("Write a CONTRIBUTING.md, short, and link it from the README.")
    talk.write("/p/CONTRIBUTING.md", "# Contributing").edit("/p/README.md").bash(
        "git add -A && git commit -m 'Add CONTRIBUTING.md'", "[docs 77aa88b] Add CONTRIBUTING.md\n 2 files changed"
    )
    talk.bash(
        "git push -u origin docs", "branch 'docs' set up to track 'origin/docs'.\n   1111111..77aa88b  docs -> docs"
    )
    talk.bash("gh pr create --fill", "https://github.com/acme/tool/pull/87")
    return talk.agent(
        "CONTRIBUTING.md is written (setup, tests, commit style) and linked from the README. Pushed as 77aa88b on docs; the pull request is https://github.com/acme/tool/pull/87. CI has not finished yet."
    )


def _rename() -> Talk:
    talk = Talk().user("Rename the package acme_utils to acme_core everywhere.")
    talk.bash("git mv acme_utils acme_core", "").bash(
        "grep -rl acme_utils . | xargs sed -i s/acme_utils/acme_core/", ""
    )
    talk.bash("pytest -q", "88 passed in 5.0s").bash("mypy .", "Found 2 errors in 1 file", error=True)
    return talk.agent(
        "The package is now acme_core: directory moved, 31 imports rewritten, 88 tests pass. mypy reports two errors in acme_core/compat.py that were there before; I left them. PyPI still has the old name, so a shim release of acme_utils may be wise."
    )


def _rate_limit() -> Talk:
    talk = Talk().user("Set up rate limiting on the login endpoint: 5 tries a minute per IP.")
    talk.edit("/p/api/auth.py").write("/p/api/limits.py", "class Limiter").bash(
        "pytest -q tests/api", "2 failed, 20 passed in 3s", error=True
    )
    talk.agent("Two tests fail because they log in six times in a row. I give the test client its own limiter.")
    talk.edit("/p/tests/api/conftest.py").bash("pytest -q tests/api", "22 passed in 3s")
    return talk.agent(
        "Login is limited to 5 tries a minute per IP (429 with Retry-After beyond that). The counter lives in memory, so it is per process; with several workers you would need Redis. All 22 API tests pass. Nothing is committed."
    )


def _chinese() -> Talk:
    talk = Talk().user("请把 config.yaml 的加载改成支持环境变量覆盖，并补测试。")
    talk.edit("/p/config/loader.py").write("/p/tests/test_loader.py", "def test(): ...").bash(
        "pytest -q", "15 passed in 0.8s"
    )
    return talk.agent(
        "loader.py 现在先读取 config.yaml，再用 APP_ 前缀的环境变量覆盖同名字段。新增了 test_loader.py，共 15 个测试全部通过。嵌套字段用双下划线分隔。还没有提交。"
    )


def _flaky() -> Talk:
    talk = Talk().user("Investigate the flaky test test_reconnect and fix it if it is easy.")
    talk.bash("pytest -q tests/test_ws.py::test_reconnect --count 50", "2 failed, 48 passed in 30s", error=True)
    talk.edit("/p/tests/test_ws.py", "sleep(0.1)", "await connected.wait()")
    talk.bash("pytest -q tests/test_ws.py::test_reconnect --count 200", "200 passed in 61s")
    return talk.agent(
        "test_reconnect slept 100 ms and hoped the server was up; it now waits for the connected event. 200 runs in a row pass. The production code needed no change. There is a similar sleep in test_backoff, which I left alone."
    )


LATER = (
    Told(
        _export(),
        (
            "export_orders streams rows now instead of loading them all; a demo run of 120000 rows peaked at 85 MB and the job tests pass.",
            "Goal: stop the nightly export from running out of memory. Rows are fetched 500 at a time in jobs/export.py; not committed yet.",
            "The export keeps its CSV format, and memory stays flat for big tenants.",
            "Memory no longer grows with tenant size; the retry logic in cli.py was left as it was.",
            "You wanted the order export to stream. Done, tested on the demo tenant; next: review and commit.",
        ),
        (
            "The export job was rewritten to use pandas chunks.",
            "export_orders now writes Parquet instead of CSV.",
            "The retry logic in cli.py was improved as well.",
            "The nightly job still crashes with MemoryError on the demo tenant.",
            "A run on the demo tenant peaked at 850 MB.",
            "The change was deployed and the nightly run succeeded.",
        ),
    ),
    Told(
        _dark_mode(),
        (
            "Dark mode works on the settings page and is remembered in localStorage; disabled buttons got more contrast afterwards. The agent asks whether to commit.",
            "Adding dark mode: toggle done, disabled text raised to 0.60 opacity in dark only. Tests were not rerun after the CSS change.",
            "The theme follows the system preference by default; 42 tests passed before the last tweak.",
            "Next: say whether to commit the dark mode work.",
            "Settings.tsx, tokens.css and the new useTheme.ts make up the dark mode.",
        ),
        (
            "The choice of theme is stored in a cookie.",
            "One snapshot test of Settings still fails.",
            "Disabled text was raised from 0.60 to 0.38 opacity.",
            "The contrast of disabled buttons was changed in both light and dark mode.",
            "The dark mode work is committed.",
            "All 42 tests were run again after the contrast fix.",
        ),
    ),
    Told(
        _slow_search(),
        (
            "Search got slow because migration 0042 dropped the GIN index, so the relevance sort scans 2.4 million rows. Nothing was changed; the agent offers a migration.",
            "You asked why GET /search is slow since Monday: ts_rank over a sequential scan. Next: decide on a migration to recreate the index.",
            "The redis client bump is not the cause.",
            "Recreating the index on documents.body_tsv should make it fast again.",
            "Cause found: a missing index together with commit a1b2c3d.",
        ),
        (
            "The GIN index was recreated and search answers in under 50 ms again.",
            "The redis client bump 9f8e7d6 made the search slow.",
            "The relevance sort was reverted.",
            "Migration 0042 added the index that slows down the search.",
            "You decided against a migration.",
            "The query takes 18 seconds.",
        ),
    ),
    Told(
        _upgrade(),
        (
            "Upgrading Django to 5.1: nine of twelve failures are fixed, three tests in test_storage.py were still failing when the work was interrupted.",
            "requirements.txt pins Django 5.1; pytz fallout is repaired in forms.py and middleware.py. The storage fix was cut off.",
            "Interrupted while core/storage.py was being edited.",
            "Next: replace get_storage_class in core/storage.py and rerun the tests.",
            "The goal is Django 5.1; what remains are the storage tests.",
        ),
        (
            "The upgrade to Django 5.1 is complete and all tests pass.",
            "Django was upgraded from 4.1 to 5.2.",
            "All twelve failures came from get_storage_class.",
            "core/storage.py was fixed and the three tests pass now.",
            "You stopped because the upgrade should be reverted.",
            "The upgrade was committed on a branch of its own.",
        ),
    ),
    Told(
        _bucket(),
        (
            "The docs went to docs-preview after you turned down the sync to docs-staging.",
            "Docs are built and uploaded to s3://docs-preview; docs-staging is untouched.",
            "You refused the first upload because it was the wrong bucket.",
            "mkdocs built the site, and index.html was uploaded to docs-preview.",
            "Publishing the docs is done, in docs-preview instead of docs-staging.",
        ),
        (
            "The docs were published to docs-staging.",
            "The upload to docs-preview was refused by you.",
            "Nothing has been uploaded so far.",
            "The site could not be built.",
            "Both buckets hold the new docs now.",
            "docs-staging was emptied.",
        ),
    ),
    Told(
        _guide(),
        (
            "CONTRIBUTING.md is written, linked from the README and pushed on docs; PR 87 waits for CI.",
            "A short contributing guide was added; pull request https://github.com/acme/tool/pull/87 is open.",
            "Commit 77aa88b on branch docs adds the guide. CI is not through yet.",
            "Next: wait for CI on the pull request, then merge.",
            "The guide covers setup, tests and commit style.",
        ),
        (
            "The pull request was merged into main.",
            "CI passed on the pull request.",
            "The README still has to be linked to CONTRIBUTING.md.",
            "CONTRIBUTING.md was committed but not pushed.",
            "The guide also covers the release process.",
            "Pull request 78 was opened for the guide.",
        ),
    ),
    Told(
        _rename(),
        (
            "acme_utils is now acme_core everywhere, tests pass; two older mypy errors in compat.py remain.",
            "The package was renamed and 31 imports rewritten. A shim release under the old name is suggested.",
            "88 tests pass after the rename, mypy complains about two errors that existed before.",
            "You asked for a rename of the package; done, apart from mypy's old complaints.",
            "Next: consider a shim release of acme_utils.",
        ),
        (
            "acme_core was renamed to acme_utils.",
            "mypy is clean after the rename.",
            "The rename broke two tests.",
            "The two mypy errors were fixed in compat.py.",
            "A shim release of acme_utils was published.",
            "13 imports were rewritten.",
        ),
    ),
    Told(
        _rate_limit(),
        (
            "Login now allows five tries a minute per IP and answers 429 after that; 22 API tests pass, nothing is committed.",
            "Rate limiting sits in api/limits.py; the counter is in memory, so Redis is needed for several workers.",
            "Two tests failed at first because they logged in too often; the test client got its own limiter.",
            "You asked for a limit on the login endpoint: implemented and tested. Next: decide about Redis and commit.",
            "The limiter works per process.",
        ),
        (
            "The counter is kept in Redis and shared by all workers.",
            "Login is limited to 5 tries an hour.",
            "Two API tests still fail because of the limiter.",
            "The limit applies to all endpoints.",
            "The limiter was committed as part of api/auth.py.",
            "The tests were deleted because they log in too often.",
        ),
    ),
    Told(
        _chinese(),
        (
            "config.yaml 的加载支持用 APP_ 环境变量覆盖了，15 个测试全部通过，还没有提交。",
            "loader.py 先读 config.yaml，再用环境变量覆盖；新增了 test_loader.py。",
            "Environment variables with the prefix APP_ override config.yaml now; 15 tests pass.",
            "下一步：检查 loader.py 的改动并提交。",
            "loader.py and test_loader.py were changed for the override by environment variables.",
        ),
        (
            "测试失败，环境变量覆盖没有生效。",
            "改动已提交并推送。",
            "settings.yaml 的加载改成了支持环境变量。",
            "16 个测试全部通过。",
            "test_loader.py 已删除。",
            "The change was pushed to main.",
        ),
    ),
    Told(
        _flaky(),
        (
            "test_reconnect was flaky because it slept instead of waiting; it waits for the connected event now and 200 runs pass.",
            "The flaky test is fixed in tests/test_ws.py without touching production code. A similar sleep in test_backoff is still there.",
            "You wanted the flaky test_reconnect looked into; it is fixed and passed 200 times in a row.",
            "Before the fix 2 of 50 runs failed.",
            "Next: maybe give test_backoff the same treatment.",
        ),
        (
            "test_backoff was fixed the same way.",
            "The flakiness came from a race in the production code, which was fixed.",
            "test_reconnect was marked as skipped.",
            "The test still fails in 2 of 50 runs.",
            "500 runs in a row passed.",
            "The sleep was raised to 1 second.",
        ),
    ),
)
