"""The newest sessions and recaps of them, true and false; each batch was written before the verifier was run on it."""

# ruff: noqa: E501 - one recap a line, as a model writes it
from unit.ledger.talk import Talk

from .told_sessions import Told


def _secret() -> Talk:
    talk = Talk().user(
        "Our webhook deliveries are sometimes signed with the old secret after rotation. Can you track it down?"
    )
    talk.call("Grep", pattern="WEBHOOK_SECRET").result("hooks/sign.py:9\nhooks/rotate.py:22").call(
        "Read", file_path="/p/hooks/sign.py"
    ).result("SECRET = os.environ['WEBHOOK_SECRET']")
    talk.agent("`sign.py` reads the secret once at import, so workers that started before a rotation keep the old one.")
    talk.user("Makes sense, fix it").edit("/p/hooks/sign.py").edit("/p/hooks/rotate.py").write(
        "/p/tests/test_rotation.py", "def test(): ..."
    )
    talk.bash("pytest -q tests/test_rotation.py", "3 passed in 0.2s")
    return talk.agent(
        "Signing now asks the secret store on every delivery, with a cache of 30 seconds, and `rotate.py` clears that cache. I added three tests for rotation and they pass. Workers need one last restart to pick the new code up. The docs still describe the old way."
    )


def _bundler() -> Talk:
    talk = Talk().user("Port the build from webpack to vite")
    talk.write("/p/vite.config.ts", "export default").bash("npm i -D vite", "added 14 packages").bash(
        "npm run build", "✓ built in 4.1s"
    )
    talk.bash("rm webpack.config.js", "").edit("/p/package.json")
    talk.agent(
        "The build runs on Vite now: 4.1 s instead of 38 s. webpack.config.js is deleted and the scripts in package.json are switched. The bundle grew from 412 kB to 430 kB because Vite does not drop moment locales; I can add a plugin for that."
    )
    talk.user("yes do that").edit("/p/vite.config.ts").bash("npm run build", "✓ built in 4.4s")
    return talk.agent(
        "The locales are dropped by a small plugin in vite.config.ts; the bundle is 371 kB. Nothing is committed so far."
    )


def _review() -> Talk:
    talk = Talk().user("Review PR 214 and tell me what you think")
    talk.bash("gh pr diff 214", "diff --git a/app/cache.py").call("Read", file_path="/p/app/cache.py").result(
        "class Cache"
    )
    return talk.agent(
        "PR 214 adds a read-through cache for user profiles. Two things should change before merging: the key lacks the tenant id, so tenants could see each other's profiles, and there is no invalidation on update. The tests are thorough. I would not merge it yet. I have left no comments on GitHub."
    )


def _workflow() -> Talk:
    talk = Talk().user("Create a GitHub action that runs the tests on 3.11 and 3.12")
    talk.write("/p/.github/workflows/tests.yml", "on: push").bash(
        "git add -A && git commit -m 'Run tests in CI'", "[main 5be12aa] Run tests in CI\n 1 file changed"
    )
    talk.bash("git push", "To github.com:acme/app.git\n   aaa..5be12aa  main -> main")
    talk.bash("gh run watch", "X tests (3.12) failed", error=True)
    talk.agent(
        "The workflow is pushed as 5be12aa. On 3.11 the tests pass, on 3.12 they fail because `distutils` is gone; setup.py imports it."
    )
    talk.user("replace it with setuptools then").edit("/p/setup.py").bash("pytest -q", "61 passed in 7s")
    return talk.agent(
        "setup.py uses setuptools now and the 61 tests pass locally on 3.12. The change is not committed yet. Shall I commit and push?"
    )


def _flags() -> Talk:
    talk = Talk().user("clean up unused feature flags")
    talk.call(
        "TodoWrite",
        todos=[
            {"content": "Find unused flags", "status": "completed", "activeForm": "x"},
            {"content": "Remove new_checkout", "status": "completed", "activeForm": "x"},
            {"content": "Remove beta_search", "status": "in_progress", "activeForm": "x"},
            {"content": "Remove legacy_mail", "status": "pending", "activeForm": "x"},
        ],
    ).result("ok")
    talk.edit("/p/flags.py").edit("/p/checkout/views.py").agent(
        "new_checkout is gone from flags.py and the checkout views. I continue with beta_search."
    )
    talk.call("Edit", file_path="/p/search/api.py", old_string="a", new_string="b")
    return talk.note("interrupted", "")


def _spanish() -> Talk:
    talk = Talk().user("Explica por qué el informe mensual suma mal los descuentos y corrígelo.")
    talk.call("Read", file_path="/p/informes/mensual.py").result("total += linea.precio - linea.descuento")
    talk.edit("/p/informes/mensual.py").bash("pytest -q", "25 passed in 1.0s")
    return talk.agent(
        "El informe restaba el descuento por línea y otra vez en el total. Ahora se resta una sola vez, en mensual.py. Pasan los 25 tests. Los informes ya enviados no se han recalculado."
    )


def _benchmark() -> Talk:
    talk = Talk().user("Benchmark msgpack against json for our event payloads")
    talk.write("/p/bench/payloads.py", "import msgpack").bash(
        "python bench/payloads.py", "json 41.2 us, msgpack 17.9 us, size 812 vs 604"
    )
    return talk.agent(
        "msgpack encodes an event in 17.9 µs against 41.2 µs for json and is about 26 % smaller (604 against 812 bytes). Decoding was not measured. With 2,000 events a second that saves roughly 5 % of one core, so I would only switch if size matters. The script is bench/payloads.py; production code is untouched."
    )


def _login() -> Talk:
    talk = Talk().user("The login page flashes unstyled content. Fix it please, and don't touch the other pages.")
    talk.edit("/p/templates/login.html").call("Bash", command="npm run e2e").approval("deny", subject="npm run e2e")
    talk.result("The user does not want to run this", error=True)
    return talk.agent(
        "The stylesheet on login.html is now loaded before the script, so the page no longer flashes. You declined the e2e run, so it is not tested in a browser. Other pages were not touched."
    )


LAST = (
    Told(
        _secret(),
        (
            "Webhooks were signed with an old secret because sign.py read it at import; it is now looked up per delivery and cached for 30 seconds.",
            "Goal: deliveries signed with the right secret after rotation. Fixed with three new tests; workers must be restarted once, and the docs are outdated.",
            "rotate.py clears the cache now. Next: restart the workers and update the docs.",
            "The cause was found in sign.py and fixed at your request.",
        ),
        (
            "The secret is cached for 30 minutes.",
            "The docs were updated to describe the new way.",
            "The workers were restarted and use the new secret.",
            "The cause was that rotate.py never stored the new secret.",
            "Three tests for rotation fail.",
        ),
    ),
    Told(
        _bundler(),
        (
            "The build moved from webpack to Vite and takes about 4 seconds; with the locale plugin the bundle shrank to 371 kB.",
            "Vite replaces webpack: webpack.config.js is gone, package.json scripts switched. Nothing has been committed.",
            "You agreed to dropping the moment locales; that is in vite.config.ts now.",
            "Next: commit the Vite port.",
        ),
        (
            "The bundle is 430 kB after the locales were dropped.",
            "The build was ported from Vite to webpack.",
            "moment was removed from the dependencies.",
            "The Vite port is committed.",
            "The build got slower with Vite, 38 s instead of 4.1 s.",
        ),
    ),
    Told(
        _review(),
        (
            "PR 214 should not be merged yet: the cache key lacks the tenant id and nothing invalidates it on update.",
            "You asked for a review of PR 214, a read-through cache for profiles. Two changes are needed first.",
            "The review found two problems; no comments were posted on GitHub.",
            "Next: have the tenant id added to the key before merging PR 214.",
        ),
        (
            "PR 214 was approved and merged.",
            "The agent added the tenant id to the cache key.",
            "The review comments were posted on the pull request.",
            "The tests of PR 214 are missing.",
            "The review found nothing wrong with PR 214.",
        ),
    ),
    Told(
        _workflow(),
        (
            "The CI workflow is pushed as 5be12aa; the 3.12 failure came from distutils, and setup.py uses setuptools now, not committed yet. The agent asks whether to push.",
            "Tests run on 3.11 and 3.12 in GitHub Actions. 61 tests pass locally after the switch to setuptools.",
            "Waiting for your answer whether to commit and push the setup.py fix.",
            "CI failed on 3.12 because distutils is gone.",
        ),
        (
            "CI is green on both Python versions.",
            "The setuptools fix was pushed as 5be12aa.",
            "The tests fail on 3.11.",
            "distutils was added to setup.py.",
            "The workflow file has not been pushed yet.",
        ),
    ),
    Told(
        _flags(),
        (
            "Cleaning up feature flags: new_checkout is removed, beta_search was being removed when the work was interrupted, legacy_mail is left.",
            "flags.py and the checkout views no longer know new_checkout. Interrupted during the edit of search/api.py.",
            "Next: finish beta_search, then legacy_mail.",
            "Two of four todo items are done.",
        ),
        (
            "All unused feature flags were removed.",
            "legacy_mail was removed from flags.py.",
            "The agent is waiting for your approval to remove beta_search.",
            "new_checkout still has to be removed.",
            "The flags were removed and the tests pass.",
        ),
    ),
    Told(
        _spanish(),
        (
            "El informe restaba los descuentos dos veces; ahora mensual.py los resta una sola vez y pasan los 25 tests.",
            "Corregido el informe mensual. Los informes ya enviados no se han recalculado.",
            "The monthly report subtracted discounts twice; fixed in mensual.py, 25 tests pass.",
            "Siguiente paso: revisar mensual.py y hacer commit.",
        ),
        (
            "Los informes ya enviados se han recalculado.",
            "Fallan 25 tests.",
            "El descuento se sumaba en trimestral.py.",
            "The fix was committed and deployed.",
            "El cambio está subido: se hizo push a main.",
        ),
    ),
    Told(
        _benchmark(),
        (
            "msgpack is more than twice as fast as json for encoding and a quarter smaller; decoding was not measured, and production code is untouched.",
            "You wanted a benchmark of msgpack and json: 17.9 µs against 41.2 µs. The agent would only switch if size matters.",
            "bench/payloads.py holds the benchmark.",
            "Next: decide whether the smaller payloads are worth a switch.",
        ),
        (
            "The event payloads were switched to msgpack.",
            "json turned out faster than msgpack.",
            "Decoding with msgpack takes 17.9 µs.",
            "msgpack payloads are larger than json ones.",
            "The benchmark was committed.",
        ),
    ),
    Told(
        _login(),
        (
            "The login page should no longer flash: the stylesheet loads before the script. You declined the e2e run, so it is untested in a browser.",
            "login.html was changed, other pages were left alone.",
            "Next: try the login page in a browser.",
            "Fixing the flash of unstyled content on the login page; done except for a browser test.",
        ),
        (
            "The e2e tests passed for the login page.",
            "The script on login.html is loaded before the stylesheet now.",
            "All pages load the stylesheet first now.",
            "You rejected the change to login.html.",
            "The e2e run failed.",
        ),
    ),
)
