// What people and agents write is data on its whole way: into prompts, programs' arguments, git and
// records. Each text here would leave a file behind if anything took it for a command.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { FAKE_BIN, FAKED_AGENTS } from '../fixtures/agents/contract-subjects.ts'
import { inLongLane, isFull } from '../fixtures/full.ts'
import { pathsBelow } from '../fixtures/paths-below.ts'
import { committed, LIST_PLAN, plannedOn, program } from '../fixtures/plain-agents.ts'
import { finished, must, step } from '../fixtures/session-client.ts'
import { openTestService } from '../fixtures/workspace.ts'

const ACP_AGENT = fileURLToPath(new URL('../fixtures/agents/acp-agent.mjs', import.meta.url))
/** The file that none of these may make. */
const OWNED = 'owned-by-a-text'
const WORDS = [
  `$(touch ${OWNED})`,
  `\`touch ${OWNED}\``,
  `; touch ${OWNED};`,
  `| touch ${OWNED}`,
  `&& touch ${OWNED}`,
  `"; touch ${OWNED}; "`,
  `'; touch ${OWNED}; '`,
  `> ${OWNED}`,
  `--output=${OWNED}`,
  `--upload-pack=touch ${OWNED}`,
  `-c core.fsmonitor=touch ${OWNED}`,
  '{prompt} {prompt_file} {id} {args} %s %n $HOME $IFS !! \\n \\0',
  '[[x]](javascript:x)',
]
const PROVIDERS = isFull
  ? ['argument', 'file', 'acp', 'stdin', ...FAKED_AGENTS.map(({ id }) => id)]
  : ['argument']
/** One line, and one word with each of them. */
const TITLE = `--help ${WORDS.join(' ')}`
const LINES = `--version\n${WORDS.join('\n')}\n-rf \0 nul\n`
/** What no folder of git's, and no program, may take for an option or a command either. */
const NAMES = [
  `$(touch ${OWNED})`,
  `;touch ${OWNED};`,
  `--output=${OWNED}`,
  '-n',
  'a\nb',
  '"quoted"',
]
const FOLDER = `-- $(touch ${OWNED}) ;\`touch ${OWNED}\` "x" 'y'`

const PLAN = LIST_PLAN.replace('Make it bigger.', `Make it bigger: ${WORDS.join(' ')}`)

/** An agent that writes down which arguments it got, and answers with a list. */
const TELLS = `#!${process.execPath}
import('node:fs').then(({ appendFileSync }) => {
  appendFileSync(process.env.ARGUMENTS, JSON.stringify(process.argv.slice(2)) + '\\n')
  process.stdin.resume().on('end', () => process.stdout.write(${JSON.stringify(PLAN)}))
})
`
/** Those in which nothing is to be replaced. */
const CONFIGURED = WORDS.filter((word) => !word.startsWith('{'))
const words = (...more: string[]) => JSON.stringify(['tells', ...more, ...CONFIGURED])
const SETTINGS = `---
env: [ARGUMENTS]
providers:
  stdin: { kind: command, plan: ${words('plan')}, work: ${words('work')}, prompt: stdin }
  argument: { kind: command, plan: ${words('plan')}, work: ${words('work')}, prompt: argument }
  file: { kind: command, plan: ${words('plan')}, work: ${words('work')}, prompt: file }
  acp: { kind: acp, command: ${JSON.stringify([process.execPath, ACP_AGENT, 'plain'])} }
---

${LINES}`

/** A service in a repository, and a case with the texts wherever a text can be. */
async function hostile(t: Test) {
  const names = Object.fromEntries(NAMES.map((name) => [name, 'x\n']))
  const files = { 'casefile.md': SETTINGS, [FOLDER]: names }
  const service = await openTestService(t, { files, trust: true })
  committed(service.root)
  const dir = join(service.stateDir, '..')
  const outside = mkdtempSync(join(tmpdir(), 'casefile-arguments-'))
  t.teardown(() => rmSync(outside, { recursive: true, force: true }))
  const published = join(outside, 'arguments.jsonl')
  program(join(dir, 'bin'), 'tells', TELLS)
  mkdirSync(join(dir, 'home'))
  const { PATH, HOME } = process.env
  const own = { PATH: `${join(dir, 'bin')}:${FAKE_BIN}:${PATH}`, HOME: join(dir, 'home') }
  // a login, without which no session begins with the fake of Gemini
  Object.assign(process.env, own, { ARGUMENTS: published, GEMINI_API_KEY: 'of-the-fake' })
  t.teardown(() => {
    Object.assign(process.env, { PATH, HOME })
    delete process.env.ARGUMENTS
    delete process.env.GEMINI_API_KEY
  })
  const fields = { title: TITLE, description: LINES, workdir: FOLDER }
  const { id } = await must(service, 'POST', '/cases', fields)
  await must(service, 'PUT', `/cases/${id}/memory/notes.md`, LINES)
  for (const description of WORDS) {
    await must(service, 'POST', `/cases/${id}/proof/checklist`, { description, type: 'log' })
  }
  await must(service, 'PUT', `/cases/${id}/state`, { state: 'PLANNING', reason: TITLE })
  return { service, id, dir, published }
}

/** The files that one of the texts made, wherever it was run. */
function owned(...folders: string[]): string[] {
  return folders.flatMap((folder) =>
    [...pathsBelow(folder)].filter((path) => basename(path) === OWNED),
  )
}

t.test('a text that looks like a command is one nowhere', inLongLane, async (t) => {
  const { service, id, dir, published } = await hostile(t)
  const note = { note: LINES }
  const none = () =>
    t.strictSame([...owned(dir), ...readdirSync('.').filter((n) => n === OWNED)], [])

  for (const tag of [...WORDS, '--help', '-rf', '{}']) {
    t.equal((await service.request('POST', '/cases', { title: 'x', tags: [tag] })).status, 400, tag)
  }
  for (const field of ['title', 'workdir']) {
    const body = { title: 'x', [field]: 'a\0b' }
    t.equal((await service.request('POST', '/cases', body)).status, 400, `NUL in ${field}`)
  }
  await t.test('runbook', async (t) => {
    const files = NAMES.map((name) => `printf y > '${name}'; printf y > '${name}.new'`)
    const runbook = step([...files, 'printf %s "$*"', 'git add -A'].join('\n'), 'bash run id=it')
    await must(
      service,
      'PUT',
      `/cases/${id}/memory/runbook.md`,
      `## Hypothesis\n\n${LINES}\n\n## Steps\n\n${WORDS.join('\n')}\n${runbook}`,
    )
    const { ref, session } = await plannedOn(service, id, 'runbook', note)
    t.match(session, { state: 'plan_ready', hypothesis: LINES.trim() })
    const { session: done } = await finished(service, ref)
    t.equal(done.state, 'complete', done.output)
    t.equal(done.diff.files?.length, 2 * NAMES.length)
    none()
  })
  for (const provider of PROVIDERS) {
    await t.test(provider, async (t) => {
      writeFileSync(published, '')
      const { ref, session } = await plannedOn(service, id, provider, note)
      t.equal(session.state, 'plan_ready', session.output)
      const { session: done } = await finished(service, ref)
      t.equal(done.state, 'complete', done.output)
      none()
      if (!['stdin', 'argument', 'file'].includes(provider)) return
      const prompt = (mode: string) =>
        readFileSync(service.file(id, 'artifacts', `${done.number}-${mode}-prompt.md`), 'utf8')
      for (const text of [TITLE, ...WORDS]) t.ok(prompt('plan').includes(text), text)
      const got = readFileSync(published, 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
      t.strictSame(
        got.map((each) => each.slice(0, 1 + CONFIGURED.length)),
        ['plan', 'work'].map((mode) => [mode, ...CONFIGURED]),
      )
      if (provider === 'argument') {
        t.strictSame(
          got.map((each) => each.at(-1)),
          ['plan', 'work'].map(prompt),
        )
      }
    })
  }
})
