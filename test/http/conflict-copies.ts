import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { must, newSession, reaches, step } from '../fixtures/session-client.ts'
import { openTestService } from '../fixtures/workspace.ts'

const COPIES = [
  'case.sync-conflict-20260112-003022-FUKIKK4.md',
  "case (Ada's conflicted copy 2026-11-28).md",
  'case 2.md',
  'case (1).md',
]

const app = await openTestService(t)

t.test('a copy of case.md is a problem, and no memory file', async (t) => {
  const { id, title } = await app.newCase({ title: 'The case' })
  for (const name of COPIES) writeFileSync(app.file(id, name), '---\ntitle: Stale\n---\n\nwombat\n')
  writeFileSync(app.file(id, 'case 2 notes.md'), 'About the second case.\n')
  await app.restart()
  const found = await must(app, 'GET', `/cases/${id}`)
  t.equal(found.title, title)
  t.strictSame(
    found.problems.map(({ code, file }: { code: string; file: string }) => [code, file]).sort(),
    COPIES.map((name) => ['conflict_copy', name]).sort(),
  )
  const memory: { filename: string }[] = await must(app, 'GET', `/cases/${id}/memory`)
  t.strictSame(memory.map(({ filename }) => filename).sort(), [
    'case 2 notes.md',
    'case.md',
    'history.md',
  ])
  t.strictSame(await must(app, 'GET', '/search?q=wombat'), [])

  for (const name of [...COPIES, 'case-DESKTOP-7QK2M1A.md']) {
    const path = `/cases/${id}/memory/${encodeURIComponent(name)}`
    const written = await app.request('PUT', path, 'x')
    t.match(written, { status: 400, json: { code: 'invalid_filename' } })
    if (!COPIES.includes(name)) t.notOk(existsSync(app.file(id, name)))
    else t.match(readFileSync(app.file(id, name), 'utf8'), /wombat/, 'and stays as it is')
  }
})

t.test('no session gets it', async (t) => {
  const { id } = await app.newCase({ description: 'Look.' })
  for (const name of COPIES) writeFileSync(app.file(id, name), step('echo stale'))
  writeFileSync(app.file(id, 'notes.md'), 'Noted.\n')
  const ref = await newSession(app, id)
  await reaches(app, ref, 'plan_ready')
  const { sessions } = await app.service.store.read(id)
  const loaded = sessions[0]!.trail.find(({ event }) => event === 'context_loaded')
  const { files } = loaded!.fields as { files: string[] }
  t.strictSame(files.sort(), ['case.md', 'history.md', 'notes.md'])
})
