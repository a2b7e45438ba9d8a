import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import type { Said } from '../fixtures/cli.ts'
import { type CliHere, cliHere } from '../fixtures/cli-here.ts'
import { inLongLane } from '../fixtures/full.ts'
import { changeState, PUT_RUN, runsIn } from '../fixtures/state-rows.ts'

const SAMPLE = fileURLToPath(new URL('../../sample-workspace/', import.meta.url))

/** On a copy of the sample, as one comes from git: without state of this machine. */
function cliOnSample(t: Test): CliHere & { cases: string; ids: string[]; stateDir: string } {
  const cli = cliHere(t)
  cpSync(SAMPLE, cli.root, { recursive: true })
  const cases = join(cli.root, 'memory', 'cases')
  return { ...cli, cases, ids: readdirSync(cases).sort(), stateDir: cli.env.CASEFILE_STATE_DIR }
}

function tree(folder: string): string[] {
  return readdirSync(folder, { recursive: true }).map(String).sort()
}

function heard({ code, stdout, stderr }: Said) {
  return { code, stdout, stderr }
}

/** With a session and a proof, and one of each kind that a list can show. */
function questions(cases: string, ids: string[]): string[][] {
  const withProof = ids.filter((id) => existsSync(join(cases, id, 'proof')))
  const withSession = ids.filter((id) => existsSync(join(cases, id, 'sessions')))
  return [
    ['list'],
    ['list', '--all', '--json'],
    ['list', 'sign', '--needs', 'any', '--json'],
    ['list', '--state', 'nope', '--json'],
    ['show', ids[0]!, '--json'],
    ['show', withProof[0]!],
    ['show', 'sign', '--json'],
    ['show', withSession[0]!, 'latest'],
    ['show', '00000000-0000-4000-8000-000000000000', '--json'],
    ['prove', withProof[0]!],
    ['prove', 'list', withProof[0]!],
  ]
}

t.test(
  'a question without a service is answered as with one, and writes nothing',
  inLongLane,
  async (t) => {
    const cli = cliOnSample(t)
    const { cases, ids, root, stateDir } = cli
    writeFileSync(join(cases, ids[0]!, 'case.md'), '---\ntitle: [half\n')
    mkdirSync(join(cases, 'no-case'))
    const before = tree(root)
    const asked = questions(cases, ids)
    const answers = []
    for (const question of asked) answers.push(await cli.run(...question))
    t.strictSame(tree(root), before)
    t.strictSame(tree(stateDir), [])

    await cli.serve()
    for (const [index, question] of asked.entries()) {
      t.strictSame(heard(answers[index]!), heard(await cli.run(...question)), question.join(' '))
    }
    t.ok(existsSync(join(stateDir, 'casefile.db')), 'the service did write')
  },
)

t.test('what a broken file said before is known from the state folder', async (t) => {
  const cli = cliOnSample(t)
  const path = join(cli.cases, cli.ids[0]!, 'case.md')
  t.match(await cli.run('comment', cli.ids[0]!, 'so that there is state'), { code: 0 })
  const { title } = (await cli.run('show', cli.ids[0]!, '--json')).json
  writeFileSync(path, '---\ntitle: [half\n')
  const state = tree(cli.stateDir)
  const shown = await cli.run('show', cli.ids[0]!, '--json')
  t.match(shown.json, { title, problems: [{ file: 'case.md' }] })
  t.strictSame(tree(cli.stateDir), state)
})

t.test('what a service that died left is put right before anything is answered', async (t) => {
  const cli = cliOnSample(t)
  const id = cli.ids.find((each) => existsSync(join(cli.cases, each, 'sessions', '1.md')))!
  const path = join(cli.cases, id, 'sessions', '1.md')
  const text = readFileSync(path, 'utf8')
  const created = text.match(/^\d+\. .* session_created .*$/m)![0]
  const session_id = text.match(/^id: (.*)$/m)![1]!
  // as it was when its service died, a moment after it was made
  const [head] = text.replace(/^state: .*$/m, 'state: created').split('## Audit trail')
  writeFileSync(path, `${head}## Audit trail\n\n${created}\n`)
  const record = { session_id, case_id: id, number: 1, mark: 'm' }
  await changeState(cli.stateDir, PUT_RUN, session_id, JSON.stringify(record))
  const shown = await cli.run('show', id, '1', '--json')
  t.match(shown, { code: 0, json: { number: 1, state: 'failed' } })
  t.match(readFileSync(path, 'utf8'), /session_sealed/)
  t.strictSame(runsIn(cli.stateDir), [])
})
