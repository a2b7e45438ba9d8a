/** The first casefile.md: every setting with an explanation, and only the provider set. */
export const FIRST_SETTINGS = `---
# Settings of this workspace: take away a # to set one. The page Settings of the console's Help explains them.
provider: runbook              # what new sessions run with; a case or a request may name another
# timeout: { plan: 30m, work: 2h, step: 10m, retries: 5m }
# steps: ['npm test']          # what to run when a case says nothing
# env: [DATABASE_URL]          # passed on to steps, besides PATH, HOME and the like; needs casefile doctor --trust
# tests: npm test              # how the tests are run; new agents and --run-tests use it
# checklist: ['All tests pass (test-log, required)']  # what a new case must prove
# standing: [{ paths: ['docs/**'] }]  # what agents may do without your approval; needs casefile doctor --trust
# sign_approvals: true         # ask for signed approvals
# isolation: worktree         # sessions work in a git worktree of their own
# notify: [desktop]            # where to say that something waits for you
# providers: {}                # programs and agents that may do the work; needs casefile doctor --trust
# memory_root: memory          # where the cases are; read when the service starts
---

<!--
Below this comment is the place for standing instructions: they go to every agent that works here.
Say what a newcomer must know, for example how to run the tests, and what not to touch.
-->
`
