// A run can write casefile.md. What that no longer restricts stays restricted until the operator trusts the change.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { withRestrictions } from '../../src/model/restrictions.ts'
import { DEFAULT_SETTINGS, type Settings } from '../../src/model/settings.ts'
import { inLongLane } from '../fixtures/full.ts'
import { must, planned, ran, step } from '../fixtures/session-client.ts'
import { printedBy } from '../fixtures/session-record.ts'
import { trusted } from '../fixtures/trust.ts'
import { openTestService } from '../fixtures/workspace.ts'

const HIDDEN = 'hide: [.env, keys/deep]\n'
const SETTINGS = `---\n${HIDDEN}checklist: ['All tests pass (test-log)']\n---\n`

const service = await openTestService(t, { mount: true })
const settings = join(service.root, 'casefile.md')
mkdirSync(join(service.root, 'keys/deep'), { recursive: true })
for (const file of ['.env', 'keys/deep/one'])
  writeFileSync(join(service.root, file), 'top secret\n')

/** What a run sees. */
async function seen(t: Test, script = '') {
  const { session, ref } = await ran(
    service,
    step(`set +e; ${script}\ncat .env keys/deep/one; true`),
  )
  t.equal(session.state, 'complete')
  const isWalled = /guard=mount/.test(
    readFileSync(service.file(ref.case_id, 'sessions/1.md'), 'utf8'),
  )
  return isWalled ? /top secret/.test(printedBy(service, ref)) : null
}

const problems = async () =>
  (await must(service, 'GET', '/health')).problems.filter(
    ({ code }: { code: string }) => code === 'untrusted_settings',
  )

t.test('what a run lifts stays as it was, also after a restart', inLongLane, async (t) => {
  writeFileSync(settings, SETTINGS)
  const lifted = '---\nhide: ["!.env", "!keys/deep"]\n---\n'
  const first = await seen(t, `printf -- '${lifted.replaceAll('\n', '\\n')}' > casefile.md`)
  if (first === null) return t.pass('skipped: there are no mounts here')
  t.equal(first, false)
  await service.restart()
  const message =
    'hide: casefile.md no longer hides .env, keys/deep from runs. The limit still applies. Restore the setting, or run casefile doctor --trust'
  for (const text of ['---\nhide: none\n---\n', '---\nhide: [\n---\n', lifted]) {
    writeFileSync(settings, text)
    t.match(await problems(), [{ file: 'casefile.md', message }], text)
  }
  t.equal(await seen(t), false, 'after a restart')
  const made = await service.newCase({ title: 'Next' })
  t.match(readFileSync(service.file(made.id, 'case.md'), 'utf8'), 'All tests pass (test-log')
  t.match(await trusted(service), /hide: no longer hides \.env, keys\/deep from runs/)
  t.strictSame(await problems(), [])
  t.equal(await seen(t), true, 'the operator said so')
})

t.test('what demands something does so until its removal is trusted', async (t) => {
  writeFileSync(settings, '---\nsign_approvals: true\n---\n')
  const ref = await planned(service, { runbook: step('true') })
  rmSync(settings)
  t.match((await problems()).at(-1), { message: /^sign_approvals: / })
  t.match((await service.request('POST', `${ref.path}/approve`)).json, { code: /sign/ })
  t.match(await trusted(service), /sign_approvals: no longer requires a signature for approvals/)
  t.equal((await service.request('POST', `${ref.path}/approve`)).status, 200)
})

const WIDER: [key: string, before: Partial<Settings>, now: Partial<Settings>][] = [
  ['sandbox', { sandbox: { hosts: ['a'] } }, {}],
  ['sandbox', { sandbox: { hosts: ['a'] } }, { sandbox: { hosts: ['a', 'b'] } }],
  ['sandbox', {}, { sandbox: 'none' }],
  ['sandbox', { sandbox: { hosts: [] } }, { sandbox: 'none' }],
  ['isolation', { isolation: 'worktree' }, {}],
  ['cache', { cache: [] }, {}],
  ['cache', { cache: ['/a'] }, { cache: ['/a', '/b'] }],
  ['cache', {}, { cache: ['/a'] }],
]
t.test('settings that let a run do more than the last one stay as they were', async (t) => {
  for (const [key, before, now] of WIDER) {
    const [was, is] = [before, now].map((some) => ({ ...DEFAULT_SETTINGS, ...some }))
    const { settings, removed } = withRestrictions(is!, was!)
    t.strictSame([settings, removed.map((each) => each.key)], [was, [key]])
    t.strictSame(withRestrictions(was!, was!).removed, [])
  }
  const none = { ...DEFAULT_SETTINGS, sandbox: 'none' as const }
  t.strictSame(withRestrictions(DEFAULT_SETTINGS, none).removed, [], 'a restriction is added')
})

t.test('what is removed from a list applies at once, also if something is added', async (t) => {
  const was = { ...DEFAULT_SETTINGS, sandbox: { hosts: ['a', 'b'] }, cache: ['/a', '/b'] }
  const is = { ...DEFAULT_SETTINGS, sandbox: { hosts: ['b', 'c'] }, cache: ['/b', '/c'] }
  t.match(withRestrictions(is, was), {
    settings: { sandbox: { hosts: ['b'] }, cache: ['/b'] },
    removed: [
      { key: 'cache', names: was.cache },
      { key: 'sandbox', names: was.sandbox.hosts },
    ],
  })
  const less = { ...DEFAULT_SETTINGS, sandbox: { hosts: ['a'] }, cache: [] }
  t.strictSame(withRestrictions(less, was), { settings: less, removed: [] })
})
