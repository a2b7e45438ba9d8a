import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { foundAgents } from '../fixtures/found-agents.ts'
import { step } from '../fixtures/session-client.ts'
import {
  openTestService,
  type TestService,
  type TestServiceOptions,
} from '../fixtures/workspace.ts'

/** A folder beside the test's own, which is a workspace. */
function apart(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'casefile-agents-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

function open(t: Test, options: TestServiceOptions = {}): Promise<TestService> {
  return openTestService(t, { ...options, environment: foundAgents(apart(t)) })
}

async function html(app: TestService, path: string): Promise<string> {
  const reply = await app.request('GET', path, undefined, { accept: 'text/html' })
  t.equal(reply.status, 200, `${path}: ${reply.text.slice(0, 300)}`)
  return reply.text
}

/** The groups of a menu, with what can be chosen in them. */
function menu(page: string, id: string): Record<string, string[]> {
  const select = new RegExp(`<select id="${id}".*?</select>`, 's').exec(page)?.[0] ?? ''
  const groups = [...select.matchAll(/<optgroup label="([^"]*)">(.*?)<\/optgroup>/gs)]
  return Object.fromEntries(
    groups.map(([, label = '', options = '']) => [
      label,
      [...options.matchAll(/<option([^>]*)>(.*?)<\/option>/gs)].map(
        ([, rest = '', text = '']) => `${text}${rest.includes('disabled') ? ' (disabled)' : ''}`,
      ),
    ]),
  )
}

t.test('no page waits for the agents', async (t) => {
  const folder = apart(t)
  const gate = join(folder, 'gate')
  const app = await openTestService(t, { environment: foundAgents(folder, gate) })
  const { id } = await app.newCase({ title: 'One' })
  let isFound = false
  const finding = app.request('GET', '/agents/found').finally(() => {
    isFound = true
  })
  for (const path of ['/', '/new', '/configure', `/case/${id}`]) {
    const page = await html(app, path)
    t.notMatch(page, /<optgroup/)
  }
  t.notOk(isFound, 'the pages come before the agents have answered')
  writeFileSync(gate, '')
  t.equal((await finding).status, 204)
  const groups = menu(await html(app, `/case/${id}`), 'session-provider')
  t.strictSame(Object.keys(groups), ['Ready', 'Needs login', 'Not installed'])
  t.match(groups.Ready, [/^Runbook/, 'claude (Claude Code) 2.1.330'])
  t.strictSame(groups['Needs login'], ['Codex 0.169.0: codex login'])
  t.ok(
    groups['Not installed']!.includes(
      'gemini (Gemini CLI): npm install -g @google/gemini-cli (disabled)',
    ),
  )
  t.strictSame(Object.keys(menu(await html(app, '/new'), 'new-provider')), Object.keys(groups))
})

t.test('a workspace without cases', async (t) => {
  const app = await open(t, { files: { 'package.json': '{"scripts":{"test":"true"}}' } })

  t.test('is set up first', async (t) => {
    t.match(await html(app, '/'), /Looking for agents/)
    await app.request('GET', '/agents/found')
    const page = await html(app, '/')
    t.match(page, /<h1>Set up Casefile<\/h1>/)
    t.match(page, /value="claude"[^>]* checked=""/, 'the only agent that is ready is proposed')
    t.match(page, /value="gemini"[^>]* disabled=""/)
    t.match(page, 'data-copy="npm install -g @google/gemini-cli"')
    t.match(page, 'data-copy="codex login"')
    t.match(page, 'value="npm test --silent"')
    t.match(page, 'Save, create and plan')
  })

  t.test('then it asks for the first case', async (t) => {
    const body = { provider: 'claude', checklist: ['All tests pass (test-log, required)'] }
    const saved = await app.request('PUT', '/setup', body)
    t.equal(saved.status, 200, saved.text)
    const page = await html(app, '/')
    t.match(page, /<h1>Cases<\/h1>/)
    t.match(page, /id="first-case"/)
    t.equal(page.match(/Claude Code<!-- -->|Claude Code plans/g)?.length, 1, 'said once')
    const form = await html(app, '/configure')
    t.match(form, /value="claude"[^>]* checked=""/)
    t.match(form, 'data-only-changed=""')
    for (const other of ['signature', 'Where does git', 'Remove hooks'])
      t.notMatch(form, other, 'that is casefile init')
  })
})

t.test('the setup of a workspace that has one', async (t) => {
  const app = await open(t)
  const page = async (setup: object) => {
    const reply = await app.request('PUT', '/setup', setup)
    t.equal(reply.status, 200, reply.text)
    await app.request('GET', '/agents/found')
    return html(app, '/configure')
  }

  for (const provider of ['gemini']) {
    t.test(`offers ${provider}, which would not be offered otherwise`, async (t) => {
      const shown = await page({ provider })
      t.match(shown, new RegExp(`value="${provider}"[^>]* checked=""`))
      t.notMatch(shown, new RegExp(`value="${provider}"[^>]*disabled`))
    })
  }
})

t.test('a case that has no session', async (t) => {
  const app = await open(t)
  const buttons = (page: string) => {
    const notice = /<div id="status".*?(?=<div class="opened")/s
    return [
      ...(notice.exec(page)?.[0] ?? '').matchAll(
        /<(?:a|button)[^>]*class="(?:button|primary|needs-script)[^"]*"[^>]*>(.*?)<\/(?:a|button)>/gs,
      ),
    ].map(([, text = '']) => text.replace(/<[^>]*>/g, ''))
  }

  t.test('says if there is nothing to plan with', async (t) => {
    const { id } = await app.newCase({ title: 'One' })
    const page = await html(app, `/case/${id}`)
    t.match(page, 'There is nothing to plan with yet.')
    t.strictSame(
      buttons(page),
      ['Set up an agent', 'Write a runbook', 'Say how the tests are run'],
      'no tests are known',
    )
    t.match(page, /data-no-runbook=""/)
    const editor = await html(app, `/case/${id}/memory/runbook.md`)
    t.match(editor, /data-template="## Hypothesis/)
    t.notMatch(await html(app, `/case/${id}/memory/notes.md`), /data-template/)
  })

  t.test('leads to its plan', async (t) => {
    for (const [fields, words] of [
      [{ description: step('true') }, 'The plan comes from the case'],
      [{ provider: 'claude' }, 'Claude Code reads the case and the code, and changes nothing.'],
    ] as const) {
      const { id } = await app.newCase({ title: 'Two', ...fields })
      const page = await html(app, `/case/${id}`)
      t.match(page, words)
      t.strictSame(buttons(page), ['Plan this case'])
    }
  })

  t.test('leads to the terminal first, where its agent has its hooks', async (t) => {
    await app.request('PUT', '/setup', { provider: 'claude', in_terminal: true })
    const { id } = await app.newCase({ title: 'Two', provider: 'claude' })
    t.match((await app.request('GET', `/cases/${id}/status`)).json.start, { in_terminal: true })
    const before = await html(app, `/case/${id}`)
    t.match(before, 'What Claude Code does in a terminal then belongs to this case')
    t.strictSame(buttons(before), ['Make it current', 'Let Casefile start it'])
    t.match(before, /data-send="PUT" action="\/current-case"/)
    await app.request('PUT', '/current-case', { folder: '.', case_id: id })
    const after = await html(app, `/case/${id}`)
    t.match(after, 'Start Claude Code in a terminal.')
    t.match(after, 'data-copy="claude"')
    const other = await app.newCase({ title: 'Three', provider: 'codex' })
    t.match(await html(app, `/case/${other.id}`), 'Codex reads the case and the code')
  })

  t.test('unless it is closed', async (t) => {
    const { id } = await app.newCase({ title: 'Three' })
    await app.request('PUT', `/cases/${id}/state`, { state: 'WONT_FIX' })
    t.strictSame(buttons(await html(app, `/case/${id}`)), [])
  })
})
