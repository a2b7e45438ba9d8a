import { mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { intentPlan } from '../../src/markdown/intent.ts'
import type { PlanScope } from '../../src/model/scope.ts'
import { claudeDialect } from '../../src/runners/agents/claude/hooks.ts'
import type { HookTool } from '../../src/runners/agents/hooks/hook-event.ts'
import { objectionTo } from '../../src/sessions/conversations/tool-gate.ts'
import { hookedAgent } from '../fixtures/hooks.ts'
import { must } from '../fixtures/session-client.ts'
import { until } from '../fixtures/session-record.ts'
import { trusted } from '../fixtures/trust.ts'
import { openTestService } from '../fixtures/workspace.ts'

const app = await openTestService(t)
const { id: case_id } = await app.newCase({ title: 'Raise the limit' })
const agent = hookedAgent(app, { case_id })
const configure = (settings: string) =>
  writeFileSync(join(app.root, 'casefile.md'), `---\n${settings}\n---\n`)

const FORMAT = { intent: 'Format.', commands: [], proof: ['true'] }
const MODES = ['default', 'bypassPermissions']

t.test(
  'whatever the mode of the agent, a command that does more than read is denied',
  async (t) => {
    for (const permission_mode of MODES) {
      const bash = (command: unknown) => agent.call('Bash', { command }, { permission_mode })
      const denied = /only commands that read may run yet: "rm -rf src" is not .*reading_commands/
      t.match(await bash('rm -rf src && git push --force'), denied, permission_mode)
      t.match(await bash('sed -i s/1/2/ a.txt'), /"sed -i s\/1\/2\/ a\.txt"/)
      t.match(await bash(['bash', '-lc', 'rm a']), /"rm a"/, 'a list of words')
      t.match(await bash(undefined), /cannot be judged/)
      t.equal(await bash('sed -n 1,5p a.txt'), null)
      t.equal(await bash(['bash', '-lc', 'cat a.txt | head']), null)
    }
  },
)

t.test('the operator names tools and commands that only read, once they are trusted', async (t) => {
  configure(
    "reading_tools: [mcp__docs__search, 'mcp__wiki__*']\nreading_commands: ['npm test', make check]",
  )
  const npm = () => agent.call('Bash', { command: 'cd a && npm test -- --x | tail -5' })
  const search = (name = 'mcp__docs__search') => agent.call(name, { query: 'limit' })
  t.match(await npm(), /only commands that read/, 'not trusted yet')
  t.match(await search(), /nothing may be changed/)
  const { problems } = await must(app, 'GET', '/health')
  t.match(problems, [
    { code: 'untrusted_settings', message: /^reading_tools: not trusted.*mcp__docs__search/ },
    { code: 'untrusted_settings', message: /^reading_commands: not trusted.*npm test, make check/ },
  ])

  const shown = await trusted(app)
  t.match(shown, /Tools .* count as reading[^\n]*\n {2}mcp__docs__search\n/)
  t.match(shown, /Commands .* without an approved plan:\n {2}npm test\n {2}make check\n/)
  t.equal(await npm(), null)
  t.equal(await search(), null)
  t.equal(await search('mcp__wiki__page'), null)
  t.match(await search('mcp__docs__search_and_replace'), /nothing may be changed/)
  t.match(await agent.call('Bash', { command: 'npm test && npm publish' }), /"npm publish"/)
  t.match(await agent.call('Bash', { command: 'npm test > src/log' }), /it writes src\/log/)

  configure('reading_commands: [npm]')
  t.match(await npm(), /only commands that read/, 'another list is not trusted')
})

t.test('a tool that only reads has a name, and not any', async (t) => {
  configure("reading_tools: ['*', 'a b']\nreading_commands: ['']")
  const { problems } = await must(app, 'GET', '/health')
  t.match(problems, [{ message: /reading_tools\[0\]/ }, {}, { message: /reading_commands\[0\]/ }])
})

t.test('the scope of the plan holds for every path that a call names', async (t) => {
  mkdirSync(join(app.root, 'src'))
  mkdirSync(join(app.root, 'other'))
  symlinkSync('../other', join(app.root, 'src/link'))
  symlinkSync('../other/new', join(app.root, 'src/new'))
  symlinkSync('new', join(app.root, 'src/newer'))
  symlinkSync('loop/../loop2', join(app.root, 'src/loop2'))
  let scope: PlanScope = { paths: ['src/**'], commands: null }
  const why = async (tool_name: string, tool_input: unknown, cwd = app.root) => {
    const common = { session_id: 'a', cwd, hook_event_name: 'PreToolUse' }
    const event = await claudeDialect.read(
      { ...common, tool_name, tool_input },
      { root: app.root, eventName: '' },
    )
    const objection = await objectionTo((event as { tool: HookTool }).tool, {
      cwd,
      folder: realpathSync(app.root),
      rules: { readingTools: [], readingCommands: [] },
      state: 'executing',
      scope,
      caseId: null,
      busyWith: null,
      caseTitle: 'Raise the limit',
      noPlan: '',
      howToPlan: '',
    })
    return objection?.text ?? null
  }
  const inside: [string, unknown][] = [
    ['Write', { file_path: join(app.root, 'src/a') }],
    ['Write', { file_path: 'src/a', content: '{"path": "other/x"}' }],
    ['mcp__files__move', { source: 'src/a', destination: 'src/b' }],
    ['mcp__files__write', { uri: `file://${app.root}/src/a` }],
    ['mcp__files__write', { args: '{"path":"src/a"}' }],
    ['NotebookEdit', { notebook_path: 'src/a.ipynb', new_source: 'x = other/y' }],
    ['Bash', { command: 'node x > src/log' }],
    ['Read', { file_path: 'other/x' }],
  ]
  for (const [tool, input] of inside) {
    t.equal(await why(tool, input), null, JSON.stringify(input))
  }
  const outside: [string, unknown][] = [
    ['Write', { file_path: 'other/x' }],
    ['Write', { file_path: 'src/../other/x' }],
    ['Write', { file_path: '../src/x' }],
    ['Write', { file_path: '/etc/src/x' }],
    ['Write', { file_path: 'src/link/x' }],
    ['Write', { file_path: 'src/new' }],
    ['Write', { file_path: 'src/newer' }],
    ['Write', { file_path: 'src/newer/x' }],
    ['Bash', { command: 'node x > src/newer' }],
    ['Write', { filePath: 'other/x' }],
    ['Write', `{"path":"${app.root}/other/x.txt"}`],
    ['Edit', { file_path: 'src/a', edits: [{ file_path: 'other/x' }] }],
    ['Edit', { files: ['src/a', 'other/x'] }],
    ['Edit', { files: [{ path: 'src/a' }, { path: 'other/x' }] }],
    ['Edit', { paths: ['other/x'] }],
    ['Edit', { old_path: 'src/a', new_path: 'other/x' }],
    ['Edit', { targetFile: 'other/x' }],
    ['Edit', { filename: 'other/x' }],
    ['Edit', { dirPath: 'other' }],
    ['Edit', { uri: `file://${app.root}/other/x` }],
    ['Edit', { url: `file://${app.root}/other/x` }],
    ['Edit', { source: 'src/a', destination: 'other/x' }],
    ['Edit', { path: 'src/a', to: 'other/a' }],
    ['Edit', { cwd: 'other', path: 'src/a' }],
    ['apply_patch', { input: '*** Begin Patch\n*** Update File: other/x\n*** End Patch' }],
    ['apply_patch', '*** Begin Patch\n*** Update File: src/a\n*** Move to: other/a\n*** End Patch'],
    ['apply_patch', { patch: '--- a/src/a\n+++ b/other/a\n@@ -1 +1 @@\n-a\n+b\n' }],
    ['Bash', { command: 'node x > log' }],
    ['Bash', { command: 'node x > src/log', workdir: 'other' }],
  ]
  for (const [tool, input] of outside) {
    t.match(await why(tool, input), /outside the scope/, JSON.stringify(input))
  }
  for (const input of [{}, { id: 7 }, 'Write to other/x', { title: 'other/x' }]) {
    const reason = await why('mcp__files__write', input)
    t.match(reason, /does not say which file it changes/, JSON.stringify(input))
  }
  t.match(await why('Write', { file_path: 'src/loop2' }), /cannot be resolved/)
  t.match(await why('Bash', {}), /does not say its command/)
  t.match(
    await why('Write', { file_path: 'a' }, join(app.root, 'other')),
    /other\/a is outside/,
    'a path is relative to where the agent is',
  )
  scope = { paths: null, commands: ['npm test'] }
  const bash = (command: string) => why('Bash', { command })
  t.equal(await bash('npm test'), null)
  t.match(await bash('npm publish'), /outside the scope/, 'also without paths')
  for (const command of ['ls -l other', 'git diff | head', 'cd src && npm test', 'npm test; pwd'])
    t.equal(await bash(command), null, `${command}: what only reads passes`)
  t.equal(await bash(`cd ${realpathSync(app.root)} && npm test`), null)
  for (const command of [
    'cd /tmp && npm test',
    'cd src && cd ../.. && npm test',
    'cd ~ && npm test',
    'cd - && npm test',
    'cd && npm test',
    'cd $X && npm test',
    'ls > other/x',
    'echo x >> src/a',
    'find . -delete',
  ])
    t.match(await bash(command), /outside the scope/, command)
  t.equal(await why('Write', { file_path: 'other/x' }), null)
})

t.test(
  'a call outside of the scope of an approved plan is denied, or its person is asked',
  async (t) => {
    const asked = agent.present('---\npaths: [src/**]\n---\n\n# Raise the limit\n\n1. Raise it.\n')
    const session = await planned()
    await must(app, 'POST', `${session}/approve`)
    t.match(await asked, { behavior: 'allow' })
    const write = (file_path: string, fields = {}) => agent.call('Write', { file_path }, fields)
    t.equal(await write('src/a'), null)
    t.match(await write('src/link/x'), /outside the scope/)
    t.match(await write('src/a', { cwd: join(app.root, 'other') }), /other\/src\/a is outside/)
    const decided = async (fields: object, by = agent) => {
      const input = { tool_name: 'Bash', tool_input: { command: 'ls > out' }, ...fields }
      const said = await by.tell('PreToolUse', input)
      return said.hookSpecificOutput.permissionDecision
    }
    for (const permission_mode of ['default', 'acceptEdits'])
      t.equal(await decided({ permission_mode }), 'ask', permission_mode)
    for (const permission_mode of ['auto', 'bypassPermissions', 'dontAsk', 'plan', undefined, ''])
      t.equal(await decided({ permission_mode }), 'deny', `${permission_mode}: it would pass`)
    t.equal(await decided({ agent_id: 'sub' }), 'deny', 'a subagent')
    const strict = hookedAgent(app, { case_id, headers: { 'x-casefile-strict': '1' } })
    const calls = async () => (await must(app, 'GET', session)).findings.out_of_scope_calls
    const ran = { tool: 'Bash', action: 'ls > out', reason: /out, which is outside/ }
    await until(async () => (await calls()).at(-1)?.action === ran.action)
    t.match((await calls()).at(-1), { ...ran, ran: false })
    await agent.tell('PostToolUse', { tool_name: 'Bash', tool_input: { command: 'ls > out' } })
    await until(async () => (await calls())[0].ran)
    t.match((await calls())[0], ran, 'what ran comes first')
    t.equal(await decided({}, strict), 'deny', 'only Casefile decides')
    const page = await (await fetch(`${app.url}/case/${case_id}/session/1`)).text()
    t.match(page, /id="out-of-scope".*Bash ls &gt; out.*ran, allowed in the agent/s)
    await must(app, 'POST', `${session}/abandon`)
  },
)

t.test('a standing intent lets calls pass that lie within it, once it is trusted', async (t) => {
  const { id: case_id } = await app.newCase({ title: 'Tidy the docs' })
  const other = hookedAgent(app, { case_id, session: 'conversation-2' })
  for (const folder of ['docs', 'docs/.hidden']) mkdirSync(join(app.root, folder))
  symlinkSync('../other', join(app.root, 'docs/link'))
  const write = (file_path: string) => other.call('Write', { file_path })
  const bash = (command: string, cwd = app.root) => other.call('Bash', { command }, { cwd })
  await other.tell('UserPromptSubmit', { prompt: 'Tidy the docs' })

  configure("standing: [{ paths: [../x] }, { commands: ['a | b'] }, { path: [x] }]")
  const { problems } = await must(app, 'GET', '/health')
  const told = problems.map(({ message }: { message: string }) => message).join('\n')
  t.match(told, /standing\[0\]\.paths\[0\].*expected a path inside the working folder/)
  t.match(told, /standing\[1\]\.commands\[0\].*expected one command/)
  t.match(told, /standing\[2\]\.path is not known/)

  const STANDING =
    "standing: [{ paths: ['docs/**', casefile.md, 'memory/**'], commands: ['npm run format'], proof: ['true'] }]"
  configure(STANDING)
  t.match(await write('docs/a.md'), /nothing may be changed/, 'not trusted')
  t.match(await must(app, 'GET', '/health'), {
    problems: [{ message: /^standing: changed since it was trusted/ }],
  })
  t.match(await trusted(app), /Standing intents: .*\n {2}paths: \["docs\/\*\*",.*\], commands: /)
  for (const file of ['docs/a.md', join(app.root, 'docs/b.md'), './docs/../docs/c.md'])
    t.equal(await write(file), null, file)
  for (const file of [
    'src/a',
    'docs/../src/a',
    'docs/link/x',
    'docs/.hidden/x',
    '/etc/docs/a',
    'casefile.md',
    'memory/a',
  ])
    t.match(await write(file), /nothing may be changed/, file)
  t.equal(await bash('npm run format'), null)
  t.equal(await bash('ls docs && npm run format | tail -3; true'), null)
  for (const command of [
    'npm run format --prefix docs',
    'npm run format > docs/log',
    'npm run format && rm -rf src',
    'cd docs && npm run format',
    'CI=1 npm run format',
    'npm run format $(rm a)',
    '',
  ])
    t.match(await bash(command), /only commands that read/, command)
  t.match(await bash('npm run format', join(app.root, 'docs')), /only commands that read/)
  const mcp = await other.call('mcp__files__write', { path: 'docs/a.md' })
  t.match(mcp, /nothing may be changed/, 'a tool that may change more')

  const patch = '*** Begin Patch\n*** Update File: docs/a.md\n*** End Patch'
  const codex = hookedAgent(app, { case_id, session: 'conversation-3', agent: 'codex' })
  await codex.tell('UserPromptSubmit', { prompt: 'Tidy', turn_id: 't', model: 'm' })
  t.equal(await codex.call('apply_patch', { command: patch }), null, 'another dialect')
  const moved = patch.replace('*** End', '*** Move to: src/a\n*** End')
  t.match(await codex.call('apply_patch', { command: moved }), /nothing may be changed/)

  writeFileSync(join(app.root, 'docs/a.md'), 'a\n')
  await other.tell('PostToolUse', { tool_name: 'Write', tool_input: { file_path: 'docs/a.md' } })
  await other.tell('Stop', { stop_hook_active: false })
  const session = await must(app, 'GET', `/cases/${case_id}/sessions`).then((all) => all.at(-1))
  t.match(session, {
    state: 'complete',
    findings: { plan_violation: null },
    plan: /standing intent.*allows\.$/,
  })
  const trail = readFileSync(app.file(case_id, 'sessions/1.md'), 'utf8')
  const hash = /standing_sha256=([0-9a-f]{64})/.exec(trail)?.[1]
  t.match(trail, RegExp(`tool_call tool=Write .*approved_by=standing standing_sha256=${hash}`))
  t.match(trail, RegExp(`plan_approved by=casefile.md via=standing .*standing_sha256=${hash}`))
  t.match(trail, /step_finished step=proof exit=0/)
  t.match(await must(app, 'GET', `/cases/${case_id}/gate`), { open: false }, 'of no proof')
  t.match(
    readFileSync(app.file(case_id, 'history.md'), 'utf8'),
    /approved the plan by a standing intent/,
  )

  const { id } = await app.newCase({ title: 'Format the docs' })
  const proposing = hookedAgent(app, { case_id: id, session: 'conversation-5' })
  await proposing.tell('UserPromptSubmit', { prompt: 'Format' })
  const propose = (paths: string[]) => {
    const plan = intentPlan({ ...FORMAT, paths })
    const proposal = { agent: 'claude', cwd: app.root, pid: 4_194_303, plan, hypothesis: null }
    return must(app, 'POST', `/cases/${id}/proposed-plans`, proposal)
  }
  t.match(await propose(['docs/**', 'src/a']), { state: 'plan_ready' }, 'more than it allows')
  const approved = await propose(['docs/a.md'])
  t.match(approved, { number: 1, state: /approved|executing/ }, 'no question')
  t.match(readFileSync(app.file(id, 'sessions/1.md'), 'utf8'), /plan_approved by=casefile.md/)
  const waiting = hookedAgent(app, { case_id, session: 'conversation-7' })
  await waiting.tell('UserPromptSubmit', { prompt: 'Tidy' })
  const plan = intentPlan({ ...FORMAT, paths: ['src/a'] })
  const proposal = { agent: 'claude', cwd: app.root, pid: 4_194_303, plan, hypothesis: null }
  const second = await must(app, 'POST', `/cases/${case_id}/proposed-plans`, proposal)
  const behind = /can be once session 1 of “Format the docs” ends: it works in this folder/
  t.match(await waiting.call('Write', { file_path: 'src/a' }), behind)
  await must(app, 'POST', `/cases/${case_id}/sessions/${second.id}/abandon`)
  const edit = (file_path: string) => proposing.call('Write', { file_path })
  t.equal(await edit('docs/a.md'), null)
  t.match(await edit('src/a'), /outside the scope/)
  await must(app, 'POST', `/cases/${id}/sessions/${approved.id}/abandon`)
  t.match(await proposing.present(intentPlan({ ...FORMAT, paths: ['docs/b.md'] })), {
    behavior: 'allow',
  })

  const late = hookedAgent(app, { case_id, session: 'conversation-6' })
  await late.tell('UserPromptSubmit', { prompt: 'Tidy' })
  t.equal(await late.call('Write', { file_path: 'docs/a.md' }), null)
  configure("standing: [{ paths: ['**'] }]")
  await late.tell('Stop', { stop_hook_active: false })
  const [last] = await must(app, 'GET', `/cases/${case_id}/sessions`)
  t.match(last, { state: 'planning' }, 'what is no longer trusted approves nothing')
  await other.tell('UserPromptSubmit', { prompt: 'More' })
  t.match(await write('docs/a.md'), /nothing may be changed/, 'another list is not trusted')
})

/** The path of the case's session, once its plan waits. */
async function planned(): Promise<string> {
  for (;;) {
    const [session] = await must(app, 'GET', `/cases/${case_id}/sessions`)
    if (session?.state === 'plan_ready') return `/cases/${case_id}/sessions/${session.id}`
    await delay(20)
  }
}
