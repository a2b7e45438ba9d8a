import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startBuilt } from '../fixtures/built-service.ts'
import { must, planned } from '../fixtures/session-client.ts'

const NOBODY_UID = 65_534

const hidden: [string, folder: string, mode: number, problem: { code: string; file: string }][] = [
  ['sessions/ may not be listed', 'sessions', 0o300, { code: 'unreadable', file: 'sessions' }],
  [
    'sessions/ may not be entered',
    'sessions',
    0o600,
    { code: 'unreadable', file: 'sessions/1.md' },
  ],
  ['the case may not be listed', '', 0o300, { code: 'unreadable', file: '.' }],
  ['the case may not be entered', '', 0o600, { code: 'unreadable', file: 'case.md' }],
  ['the case is closed', '', 0, { code: 'unreadable', file: '.' }],
]

const rootOnly = { skip: process.getuid?.() !== 0 && 'another user is needed to be refused' }
t.test('what permissions hide is a problem of its case, and of no other', rootOnly, async (t) => {
  for (const [name, folder, mode, problem] of hidden) {
    await t.test(name, async (t) => {
      t.teardown(() => {})
      const dir = t.testdir({ root: {}, state: {} })
      const service = await startBuilt(t, {
        root: join(dir, 'root'),
        stateDir: join(dir, 'state'),
        uid: NOBODY_UID,
      })
      const ref = await planned(service)
      const other = await must(service, 'POST', '/cases', { title: 'Other' })
      const at = join(dir, 'root/memory/cases', ref.case_id)
      t.teardown(() => chmodSync(at, 0o700))
      chmodSync(join(at, folder), mode)
      for (const when of ['while it runs', 'after a start']) {
        const seen = await must(service, 'GET', `/cases/${ref.case_id}`)
        t.equal(seen.title, 'A case', when)
        const own = seen.problems.filter(({ file }: { file: string }) => file === problem.file)
        t.match(own, [problem], when)
        t.equal((await must(service, 'GET', '/cases')).length, 2, when)
        t.strictSame((await must(service, 'GET', `/cases/${other.id}`)).problems, [], when)
        if (when !== 'while it runs') continue
        t.equal((await must(service, 'GET', ref.path)).id, ref.id, 'what was known is served')
        await service.restart()
      }
      chmodSync(at, 0o700)
      chmodSync(join(at, 'sessions'), 0o700)
      t.strictSame((await must(service, 'GET', `/cases/${ref.case_id}`)).problems, [])
      t.equal((await must(service, 'GET', ref.path)).state, 'plan_ready')
    })
  }
})
