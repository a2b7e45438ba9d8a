import { mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { git, must } from '../fixtures/session-client.ts'
import { openTestService } from '../fixtures/workspace.ts'

t.test('a worktree of the repository has its case', async (t) => {
  const app = await openTestService(t, { name: 'würfel' })
  const { id: case_id } = await app.newCase({ title: 'Raise the limit' })
  const { id: other } = await app.newCase({ title: 'Another one' })
  writeFileSync(join(app.root, 'limit.js'), 'limit = 1\n')
  git(app.root, 'init', '--quiet')
  git(app.root, 'add', 'limit.js')
  git(app.root, '-c', 'user.name=Ada', '-c', 'user.email=a@b', 'commit', '-qm', 'first')
  await must(app, 'PUT', '/current-case', { folder: '.', case_id })
  const below = join(app.root, '.claude', 'worktrees', 'bubbly')
  const beside = join(realpathSync(join(app.root, '..')), 'beside')
  git(app.root, 'worktree', 'add', '--quiet', '-b', 'worktree-bubbly', below)
  git(app.root, 'worktree', 'add', '--quiet', '-b', 'worktree-beside', beside)
  mkdirSync(join(below, 'src'))
  let sessions = 0
  const caseIn = async (cwd: string, headers: Record<string, string> = {}) => {
    const session_id = `w${sessions++}`
    const tool_input = { file_path: join(cwd, 'a.txt') }
    const body = { hook_event_name: 'PreToolUse', session_id, cwd, tool_name: 'Write', tool_input }
    const reply = await fetch(`${app.url}/hooks/claude`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-casefile-kind': 'gate',
        'x-casefile-root': Buffer.from(app.root).toString('latin1'),
        ...headers,
      },
      body: JSON.stringify(body),
    })
    const isDenied = (await reply.text()).includes('"deny"')
    const all = await must(app, 'GET', '/conversations')
    const found = all.find((each: { agent_session: string }) => each.agent_session === session_id)
    t.equal(isDenied, found.case_id !== null, `${cwd} is gated if it has a case`)
    return found.case_id
  }
  const elsewhere = { 'content-type': 'application/json', 'x-casefile-root': '/elsewhere' }
  const asked = { method: 'POST', headers: elsewhere, body: '{}' }
  t.equal((await fetch(`${app.url}/hooks/claude`, asked)).status, 400, 'of another workspace')
  t.equal(await caseIn(below), case_id, 'below the workspace')
  t.equal(await caseIn(beside), case_id, 'beside it')
  t.equal(await caseIn(join(app.root, '.claude', 'worktrees', 'gone', 'src')), case_id, 'gone')
  t.match(await must(app, 'GET', `/current-case?folder=${encodeURIComponent(below)}`), {
    case_id,
    folder: '.',
  })

  t.equal(await caseIn(below, { 'x-casefile-case': other }), other, 'its environment')
  git(below, 'checkout', '--quiet', '-b', `fix-${other.slice(0, 8)}`)
  t.equal(await caseIn(below), other, 'its branch')
  await must(app, 'PUT', '/current-case', { folder: beside, case_id: other })
  t.equal(await caseIn(beside), other, 'its own current case')

  await must(app, 'PUT', '/current-case', { folder: beside, case_id: null })
  git(app.root, 'checkout', '--quiet', '-b', `main-${other.slice(0, 8)}`)
  git(below, 'checkout', '--quiet', 'worktree-bubbly')
  t.equal(await caseIn(below), other, 'as in the workspace, where the branch counts more')
  await must(app, 'PUT', '/current-case', { folder: '.', case_id: null })
  git(app.root, 'checkout', '--quiet', '-b', `main-${case_id.slice(0, 8)}`)
  t.equal(await caseIn(below), case_id, 'the branch of the repository names it')
  t.equal(
    await caseIn(join(app.root, '.claude', 'worktrees', 'gone')),
    case_id,
    'also if it is gone',
  )
})
