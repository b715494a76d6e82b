"""Sessions and recaps of them, true and false, written before the verifier was run on them."""

# ruff: noqa: E501 - one recap a line, as a model writes it
from typing import NamedTuple

from unit.ledger.talk import Talk


class Told(NamedTuple):
    """A session, what a careful reader would accept of it, and what not."""

    talk: Talk
    true: tuple[str, ...]
    false: tuple[str, ...]


def _retry() -> Talk:
    talk = Talk().user("Uploads die on flaky networks. Add a retry with backoff to upload_client.py, max 5 attempts.")
    talk.call("Read", file_path="/p/upload_client.py").result("def send(chunk): ...")
    talk.edit("/p/upload_client.py", "send(chunk)", "retry(send, chunk)").write(
        "/p/tests/test_retry.py", "def test(): ..."
    )
    talk.bash("pytest -q tests/test_retry.py", "1 failed, 3 passed in 0.4s", error=True)
    talk.agent("One test fails because the delay is not capped. I cap it at 30 seconds.")
    talk.edit("/p/upload_client.py", "delay", "min(delay, 30)").bash(
        "pytest -q tests/test_retry.py", "4 passed in 0.3s"
    )
    return talk.agent(
        "Uploads are now retried up to 5 times with exponential backoff, capped at 30 seconds. All 4 tests in "
        "test_retry.py pass. I did not touch the CLI flags. Should the number of attempts be configurable?"
    )


def _merge() -> Talk:
    talk = Talk().user("Rebase feature/search onto main and resolve the conflicts, then push.")
    talk.bash("git rebase main", "CONFLICT (content): Merge conflict in src/index.ts", error=True)
    talk.edit("/p/src/index.ts", "<<<<<<<", "").bash("git rebase --continue", "Successfully rebased and updated")
    talk.bash("git push --force-with-lease", "! [rejected] feature/search (stale info)", error=True)
    return talk.agent(
        "The rebase onto main is done; the only conflict was in src/index.ts, where I kept both exports. The push was "
        "rejected because somebody else pushed to feature/search meanwhile. Fetch first, then decide whether to overwrite."
    )


def _question() -> Talk:
    talk = Talk().user("Why does our Docker image have 1.9 GB? Don't change anything yet.")
    talk.call("Read", file_path="/p/Dockerfile").result("FROM python:3.11\nRUN apt-get install build-essential")
    talk.bash("docker history app:latest", "1.1GB pip install torch\n410MB build-essential")
    return talk.agent(
        "Two layers make up most of it: torch with CUDA (1.1 GB) and build-essential (410 MB). A multi-stage build and "
        "the CPU wheel of torch would bring the image to roughly 600 MB. Nothing has been changed."
    )


def _refused() -> Talk:
    talk = Talk().user("Clean up old branches and the build folder.")
    talk.bash("git branch --merged", "  old/login\n  old/cart").bash(
        "git branch -d old/login old/cart", "Deleted branch"
    )
    talk.call("Bash", command="rm -rf build").approval("deny", subject="rm -rf build")
    talk.result("The user does not want to run this", error=True)
    return talk.agent(
        "The merged branches old/login and old/cart are deleted. You declined removing build, so it is still there."
    )


def _migration() -> Talk:
    talk = Talk().user("Migrate the settings page from Redux to Zustand.")
    talk.write("/p/src/settings/store.ts", "export const useSettings").edit("/p/src/settings/SettingsPage.tsx")
    talk.bash("npm run build", "error TS2345: Argument of type 'string'\nFound 2 errors.", error=True)
    talk.edit("/p/src/settings/store.ts").bash("npm run build", "✓ built in 3.2s")
    talk.agent("SettingsPage.tsx uses the new Zustand store in store.ts and the build succeeds.")
    talk.user("Good. Now remove the old reducer.").bash("rm src/settings/reducer.ts", "")
    talk.bash("git commit -am 'Move settings to Zustand'", "[main 3fe9a12] Move settings to Zustand\n 3 files changed")
    return talk.agent("reducer.ts is gone and everything is committed as 3fe9a12. The profile page still uses Redux.")


def _stopped() -> Talk:
    talk = Talk().user("Write end-to-end tests for checkout with Playwright.")
    talk.write("/p/e2e/checkout.spec.ts", "test('pay', ...)").agent("The first scenario is written, I run it.")
    return talk.call("Bash", command="npx playwright test").note("interrupted", "")


def _german() -> Talk:
    talk = Talk().user("Bitte füge der Rechnung eine Zeile für die Mehrwertsteuer hinzu, in rechnung.py.")
    talk.edit("/p/rechnung.py").bash("pytest -q", "9 passed in 0.2s")
    return talk.agent(
        "Die Rechnung zeigt jetzt die Mehrwertsteuer mit 19 % in einer eigenen Zeile. Alle 9 Tests laufen durch. "
        "Soll der ermäßigte Satz von 7 % auch unterstützt werden?"
    )


def _release() -> Talk:
    talk = Talk().user("Cut release 2.4.0: bump the version, update CHANGELOG.md, tag it. I push myself.")
    talk.edit("/p/pyproject.toml", "2.3.1", "2.4.0").edit("/p/CHANGELOG.md")
    talk.bash("git commit -am 'Release 2.4.0'", "[main 91bc77d] Release 2.4.0\n 2 files changed")
    talk.bash("git tag v2.4.0", "")
    return talk.agent(
        "Version 2.4.0 is set in pyproject.toml, CHANGELOG.md has its section, commit 91bc77d is tagged v2.4.0. Pushing is left to you."
    )


def _hunt() -> Talk:
    talk = Talk().user("Orders are sometimes charged twice. Find out why.")
    talk.call("Grep", pattern="charge_card").result("billing/worker.py:88\nbilling/api.py:40")
    talk.call("Read", file_path="/p/billing/worker.py").result("def handle(job): charge_card(job.order)")
    talk.agent("The worker is not idempotent: when the queue redelivers a job after a timeout, charge_card runs again.")
    talk.user("Fix it with an idempotency key.").edit("/p/billing/worker.py").edit("/p/billing/models.py")
    talk.bash("make test", "=== 2 failed, 118 passed in 9.1s ===", error=True)
    return talk.agent(
        "The worker now passes the order id as idempotency key. Two tests in test_refunds.py still fail; I have not looked into them yet."
    )


def _limits() -> Talk:
    talk = Talk().user("Translate all strings of the app into French.")
    talk.write("/p/locales/fr.json", "{}").agent("120 of 300 strings are translated so far.")
    return talk.note("api_error", "rate limit reached").ended("limit", error="daily budget reached")


SESSIONS = (
    Told(
        _retry(),
        (
            "Uploads are retried up to 5 times with backoff now; the four tests pass. The agent asks whether the number of attempts should be configurable.",
            "upload_client.py retries flaky uploads with exponential backoff, capped at 30 seconds.",
            "You wanted retries in upload_client.py; done, and test_retry.py is green after one failure was fixed.",
            "Next: decide whether the attempts should be configurable.",
            "The CLI flags were not touched; retries with backoff are in place.",
            "Adding a retry to the upload client: an uncapped delay failed a test first, now all pass.",
        ),
        (
            "Uploads are retried up to 10 times with backoff.",
            "The retry was added to download_client.py.",
            "One test in test_retry.py still fails because the delay is not capped.",
            "The retry was committed and pushed.",
            "The agent made the number of attempts configurable with a new CLI flag.",
            "You rejected the backoff, so uploads fail at once.",
        ),
    ),
    Told(
        _merge(),
        (
            "feature/search is rebased onto main; the push was rejected because somebody pushed meanwhile.",
            "The conflict in src/index.ts was resolved by keeping both exports. Next: fetch and decide whether to overwrite.",
            "The rebase is done, but nothing has been pushed yet.",
            "You asked to rebase feature/search and push; the push did not go through.",
            "Only src/index.ts had a conflict.",
            "Rebased onto main; fetch first, then decide about overwriting the remote branch.",
        ),
        (
            "feature/search was rebased and pushed.",
            "The rebase failed because of conflicts in src/search.ts.",
            "The branch was merged into main.",
            "Conflicts in src/index.ts are still open.",
            "The push was rejected because your token has expired.",
            "The agent dropped your exports to resolve the conflict and opened a pull request.",
        ),
    ),
    Told(
        _question(),
        (
            "You asked why the Docker image has 1.9 GB: torch with CUDA and build-essential make up most of it. Nothing was changed.",
            "torch takes 1.1 GB and build-essential 410 MB of the image.",
            "A multi-stage build with the CPU wheel could bring it down to about 600 MB; nothing has been changed yet.",
            "The image is large because of two layers, torch and build-essential.",
            "Next: decide on a multi-stage build with the CPU wheel of torch.",
            "The Dockerfile was read and the image history inspected, without changes.",
        ),
        (
            "The Docker image was reduced to 600 MB with a multi-stage build.",
            "The Dockerfile was rewritten to use Alpine.",
            "Most of the image is node_modules.",
            "build-essential was removed from the Dockerfile.",
            "The image build failed with an out of memory error.",
            "torch was replaced by its CPU wheel and the image was pushed.",
        ),
    ),
    Told(
        _refused(),
        (
            "old/login and old/cart are deleted; you declined removing the build folder.",
            "The merged branches are gone, and build is still there because you refused its removal.",
            "Cleaning up: two merged branches were deleted, the build folder was kept.",
            "You asked to clean up old branches and the build folder; the branches old/login and old/cart are deleted.",
            "Removing build was refused by you.",
            "Both merged branches were deleted. The build folder is untouched.",
        ),
        (
            "The build folder was removed along with the branches.",
            "old/login and old/checkout are deleted.",
            "The branches could not be deleted because they were not merged.",
            "The agent ran rm -rf build.",
            "You approved deleting the build folder.",
            "All remote branches were deleted as well.",
        ),
    ),
    Told(
        _migration(),
        (
            "The settings page moved from Redux to Zustand, the old reducer is gone and all is committed as 3fe9a12.",
            "SettingsPage.tsx uses the new store in store.ts; reducer.ts was deleted.",
            "Settings now use Zustand; the profile page still uses Redux.",
            "The build succeeds after two type errors were fixed.",
            "You asked to migrate the settings page to Zustand and to remove the old reducer; both are done.",
            "Commit 3fe9a12 moves settings to Zustand. It has not been pushed.",
        ),
        (
            "The build fails with two type errors in store.ts.",
            "The profile page was migrated to Zustand too.",
            "reducer.ts still has to be removed.",
            "The settings page was migrated to MobX.",
            "The change is committed and pushed to main.",
            "store.ts was deleted and reducer.ts kept.",
        ),
    ),
    Told(
        _stopped(),
        (
            "End-to-end tests for checkout: the first scenario is written, the run with Playwright was interrupted.",
            "checkout.spec.ts holds the first scenario; it has not been run to the end.",
            "You wanted Playwright tests for checkout; the work was interrupted while the tests ran.",
            "Next: run npx playwright test again.",
            "The first checkout scenario is written in e2e/checkout.spec.ts.",
            "Interrupted during npx playwright test.",
        ),
        (
            "The Playwright tests for checkout pass.",
            "All checkout scenarios are written and done.",
            "The run failed because the browser was missing.",
            "Cypress tests for checkout were written.",
            "The tests were committed after a green run.",
            "The agent waits for your approval to run the tests.",
        ),
    ),
    Told(
        _german(),
        (
            "Die Rechnung zeigt jetzt die Mehrwertsteuer in einer eigenen Zeile; alle 9 Tests laufen durch.",
            "rechnung.py wurde geändert; offen ist, ob auch der Satz von 7 % unterstützt werden soll.",
            "Du wolltest eine Zeile für die Mehrwertsteuer in rechnung.py; das ist fertig.",
            "The invoice now has a line for the tax; all 9 tests pass.",
            "Als Nächstes: entscheiden, ob der ermäßigte Satz von 7 % unterstützt wird.",
            "Die Tests sind grün, nichts wurde committet.",
        ),
        (
            "Die Tests schlagen fehl.",
            "Die Mehrwertsteuer wurde in angebot.py ergänzt.",
            "Der ermäßigte Satz von 7 % wurde committet.",
            "Die Änderung an rechnung.py wurde gepusht.",
            "Die Kundendatenbank wurde gelöscht.",
            "The change was deployed and 12 tests pass.",
        ),
    ),
    Told(
        _release(),
        (
            "Release 2.4.0 is committed as 91bc77d and tagged v2.4.0; pushing is left to you.",
            "pyproject.toml and CHANGELOG.md were updated for 2.4.0. Next: push it yourself.",
            "Version 2.4.0 is ready and tagged, not pushed.",
            "You asked for release 2.4.0 and want to push yourself.",
            "CHANGELOG.md has a section for 2.4.0, and the commit is tagged.",
            "Two files changed: pyproject.toml and CHANGELOG.md.",
        ),
        (
            "Release 2.4.0 was tagged and pushed.",
            "The version was bumped to 2.5.0.",
            "v2.4.0 was published to the package index.",
            "The tag is still missing.",
            "The release was committed as 3fe9a12.",
            "The tests failed, so the release was not tagged.",
        ),
    ),
    Told(
        _hunt(),
        (
            "Double charges came from a worker that is not idempotent; it now passes the order id as key. Two tests still fail.",
            "billing/worker.py and models.py were changed; two tests in test_refunds.py fail and have not been looked into.",
            "Orders were charged twice because the queue redelivers jobs after a timeout.",
            "Next: look into the two failing tests in test_refunds.py.",
            "118 tests pass, 2 fail.",
            "The fix uses an idempotency key in worker.py, as you asked.",
        ),
        (
            "The double charges are fixed and all tests pass.",
            "The cause was a race in billing/api.py.",
            "The two failing tests in test_refunds.py were fixed.",
            "Customers were refunded automatically.",
            "The worker now ignores redelivered jobs by a database lock.",
            "The cause has not been found yet.",
        ),
    ),
    Told(
        _limits(),
        (
            "Translating the app into French: 120 of 300 strings are translated, then a limit was reached.",
            "locales/fr.json holds the French strings so far; 120 of 300 are done.",
            "You asked for all strings in French; the work stopped at 120 of 300.",
            "The daily budget was reached before all strings were translated.",
            "Next: continue with the remaining strings in fr.json.",
            "The French translation is not complete.",
        ),
        (
            "All 300 strings are translated into French.",
            "The strings were translated into Spanish.",
            "The translation is complete and committed.",
            "The app was translated and 120 strings failed.",
            "locales/es.json was written.",
            "You cancelled the translation because it was wrong.",
        ),
    ),
)
