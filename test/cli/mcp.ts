import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { partOf, rowsAt, rowsOf } from '../../src/cli/mcp/truncate.ts'
import type { Client as CasefileClient } from '../../src/client/client.ts'
import { changeMemory } from '../../src/client/memory-change.ts'
import { CLI, workspaceOf } from '../fixtures/cli.ts'
import { cliHere } from '../fixtures/cli-here.ts'
import { inLongLane } from '../fixtures/full.ts'
import { mcpClient, mcpHere } from '../fixtures/mcp-client.ts'

const SAMPLE = fileURLToPath(new URL('../../sample-workspace/', import.meta.url))
/** Its plan waits for approval. */
const WAITING = 'c12d54ae-1933-4631-a05f-aecf75428827'
/** It has a complete session and verified proof. */
const PROVED = '6802b34d-37d5-420a-afaa-e69e7f45a6ed'
const NOTES = `casefile://cases/${WAITING}/memory/notes.md`
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

function sample(t: Test) {
  const cli = cliHere(t)
  cpSync(SAMPLE, cli.root, { recursive: true })
  const folder = (id: string) => join(cli.root, 'memory', 'cases', id)
  return { ...cli, folder }
}

/** Every file below a folder with its bytes; links by name alone. */
function tree(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
  return Object.fromEntries(
    files
      .filter((each) => each.isFile())
      .map((each) => join(each.parentPath, each.name))
      .map((path) => [path.slice(folder.length + 1), readFileSync(path, 'utf8')]),
  )
}

t.test('the tools', async (t) => {
  const here = sample(t)
  const agent = await mcpHere(t, here)
  const { tools } = await agent.client.listTools()
  const names = tools.map(({ name }) => name).sort()
  t.match(agent.client.getInstructions(), /cannot approve a plan, verify a proof, set the state/)
  for (const { name, description, annotations, inputSchema, outputSchema } of tools) {
    t.notMatch(name, /approve|verify|resolve|abandon|delete|remove|state|trust/)
    t.match(inputSchema, { type: 'object', additionalProperties: false }, name)
    t.ok(outputSchema, name)
    t.match(annotations, {
      readOnlyHint: /^(list|search|get|read)_/.test(name),
      destructiveHint: false,
      idempotentHint: !/^(append|attach|answer)_/.test(name),
      openWorldHint: false,
    })
    const denies = {
      propose_plan: /approves nothing/,
      attach_proof: /does not verify it/,
      answer_comment: /resolves nothing/,
    }
    t.match(description, denies[name as keyof typeof denies] ?? /./)
  }
  const page = readFileSync(new URL('../../docs/hooks.md', import.meta.url), 'utf8')
  const [, table = ''] = page.split('\n### What an agent can do\n')
  const documented = [...table.matchAll(/^(`\w+`(?:, `\w+`)?) \|/gm)]
  t.strictSame(documented.flatMap(([, each]) => each!.match(/\w+/g)!).sort(), names)

  await t.test('what only reads writes nothing, and needs no service', async (t) => {
    const before = tree(here.root)
    const all = (await agent.call('list_cases')).json
    t.match(all, { total: 12, next_offset: null })
    t.match(
      all.cases.slice(0, 2).map((each: { needs: { kind: string } }) => each.needs.kind),
      ['question', 'plan'],
      'what needs the operator comes first',
    )
    t.match(await agent.call('get_session', { case: WAITING.slice(0, 4) }), { isError: false })
    const record = await agent.call('read_memory', { case: WAITING, filename: 'latest.md' })
    t.match(record.text, /^---\nid: /)
    t.match((await agent.call('list_proof', { case: PROVED })).json, { total: 3 })
    t.match((await agent.call('search_cases', { query: 'seconds' })).json.cases[0], { id: WAITING })
    t.strictSame(tree(here.root), before)
    t.strictSame(tree(here.env.CASEFILE_STATE_DIR), {})
  })

  await t.test('what writes does it without a service, and leaves no owner', async (t) => {
    const notes = Array.from({ length: 5 }, (_, n) => `Note ${n}.`)
    const calls = notes.map((text) => agent.call('append_memory', { case: WAITING, text }))
    const said = await Promise.all(calls)
    t.strictSame(
      said.filter(({ isError }) => isError),
      [],
    )
    t.match(said[0]!.json, { filename: 'notes.md', size: Number, uri: NOTES })
    const added = readFileSync(join(here.folder(WAITING), 'notes.md'), 'utf8').split('\n\n')
    t.strictSame(added.map((each) => each.trim()).sort(), notes)
    t.match((await here.run('show', WAITING, '--json')).json, { state: 'PLANNING' })
  })

  await here.serve()

  await t.test('what is read comes whole, or in parts that leave out nothing', async (t) => {
    const all = (await agent.call('list_cases')).json
    t.match((await agent.call('list_cases', { needs: 'plan', limit: 5 })).json, { total: 1 })
    t.match((await agent.call('list_cases', { limit: 5 })).json, { next_offset: 5 })
    const rest = (await agent.call('list_cases', { offset: 5, limit: 7 })).json
    t.match(rest, { next_offset: null, cases: { length: 7 } }, 'nothing is left')
    t.strictSame(rest.cases, all.cases.slice(5))
    t.match(await agent.call('list_cases', { offset: 13 }), {
      isError: true,
      text: /offset is 13, but there are only 12 entries/,
    })
    t.match((await agent.call('list_cases', { state: '', tag: null })).json, { total: 12 })
    t.match((await agent.call('list_cases', { state: 'BLOCKED,RESOLVED' })).json, { total: 2 })
    t.match((await agent.call('get_case', { case: 'right after' })).json, {
      id: WAITING,
      uri: `casefile://cases/${WAITING}`,
      state: 'PLANNING',
      gate: { open: false },
      session_count: 1,
      cut: [],
      sessions: [{ number: 1, state: 'plan_ready', problems: 0 }],
      memory: { length: 5 },
    })
    t.match((await agent.call('get_case', { case: PROVED })).json, { proof_count: 3 })
    t.match(await agent.call('get_case', { case: 'sign-in' }), {
      isError: true,
      text: /"sign-in" matches \d cases\. Use more[\s\S]*How long should a sign-in last\?/,
    })
    t.match((await agent.call('list_sessions', { case: WAITING })).json, { total: 1 })
    for (const session of [1, '1', 'latest', undefined]) {
      const read = await agent.call('get_session', { case: WAITING.slice(0, 4), session })
      t.match(read.json, { number: 1, plan: /```js run id=fix/, cut: [], uncommitted: Object })
      t.match(JSON.parse(read.text), read.json, 'the same for who reads texts')
    }
    t.match((await agent.call('get_session', { case: PROVED })).json, { uncommitted: null })
    t.match(await agent.call('get_session', { case: WAITING, session: 2 }), {
      isError: true,
      text: /no session "2". It has: 1 \(plan_ready\)/,
    })
    const proofs = (await agent.call('list_proof', { case: PROVED })).json.proof
    t.match(proofs[0], { verified: true, supports: true, content: undefined })
    const named = { case: PROVED, proof: proofs[0].id.slice(0, 6) }
    const proof = await agent.call('get_proof', { ...named, limit: 13 })
    t.match(proof.json, { content: 'Read by Grace', next_offset: 13, total_characters: 82 })
    const end = await agent.call('get_proof', { ...named, offset: 13 })
    t.match(end.json, { offset: 13, next_offset: null })
    t.equal((proof.json.content + end.json.content).length, 82)
    t.match((await agent.call('list_memory', { case: WAITING, limit: 5 })).json, {
      memory: { length: 5 },
      next_offset: null,
    })
    const part = await agent.call('read_memory', { case: WAITING, filename: '1.md', limit: 5 })
    t.match(part.text, /^---\ni\n\n\[casefile: characters 0 to 5 of \d+; read on with offset 5\]$/)
    const { json } = await agent.call('search_cases', { query: 'seconds millisecond', limit: 1 })
    t.match(json.cases, [{ id: WAITING, missing: [], uri: `casefile://cases/${WAITING}` }])
    t.strictSame(Object.keys(json.cases[0].lines[0]), ['file', 'line', 'text'])
    t.match(json.cases[0].lines[0], { file: /\.md$/, text: /seconds/ })
    t.match(await agent.call('search_cases', { query: 'x', state: 'NOPE' }), {
      isError: true,
      text: /no case state "NOPE"/,
    })
  })

  await t.test(
    'a plan is proposed for the session that waits, and approved by nobody',
    async (t) => {
      const { plan_sha256, hypothesis } = (await agent.call('get_session', { case: WAITING })).json
      const plan = 'Look first.\n\n```sh run id=look\nls\n```\n'
      const proposal = { case: WAITING, plan, expected_plan_sha256: plan_sha256 }
      t.match((await agent.call('propose_plan', proposal)).json, {
        number: 1,
        state: 'plan_ready',
        next: /casefile approve \w{8} 1\. No tool here does that/,
      })
      t.match(await agent.call('propose_plan', proposal), {
        isError: true,
        text: /has changed since you read it. It is [0-9a-f]{64} now.*get_session/,
      })
      t.match((await agent.call('get_session', { case: WAITING })).json, { plan, hypothesis })
      const again = { case: WAITING, plan: 'Look again.\n', hypothesis: 'It is dark.' }
      t.match((await agent.call('propose_plan', again)).json, { number: 1, state: 'plan_ready' })
      t.match((await agent.call('get_session', { case: WAITING })).json, {
        plan: 'Look again.\n',
        hypothesis: 'It is dark.',
      })
      const record = readFileSync(join(here.folder(WAITING), 'sessions/1.md'), 'utf8')
      t.match(record, /^state: plan_ready$[\s\S]*plan_edited/m)
      t.match(await agent.call('propose_plan', { case: PROVED, plan: 'x' }), {
        isError: true,
        text: /The case is RESOLVED\. Have the operator reopen it/,
      })
      t.match(await agent.call('propose_plan', { case: PROVED, session: 1, plan: 'x' }), {
        isError: true,
        text: /Session 1 is complete: you can propose a plan only while it waits/,
      })
    },
  )

  await t.test('without such a session, it is that of a new one for the agent', async (t) => {
    const folder = process.cwd()
    t.teardown(() => process.chdir(folder))
    process.chdir(here.root)
    const claude = await mcpHere(t, here, 'claude-code')
    const handed = await claude.call('propose_plan', {
      case: 'Pass the clock',
      plan: 'Pass it.\n',
      wait: 0,
    })
    t.match(handed.json, { number: 1, state: 'plan_ready', next: /approve/ })
    const { json } = await here.run('show', 'Pass the clock', '1', '--json')
    t.match(json, { origin: 'terminal', provider: 'claude', plan: 'Pass it.' })
    const history = (await here.run('show', 'Pass the clock', '--history')).stdout
    t.match(history, /claude: session 1: a plan is ready/, 'by its name')
    const intent = {
      case: 'Pass the clock',
      intent: 'Pass it.',
      paths: ['src/**'],
      proof: ['true'],
    }
    const still = (await claude.call('propose_plan', { ...intent, wait: 1 })).json
    t.match(still, { number: 1, state: 'plan_ready', next: /Propose the same again/ })
    const { plan } = (await here.run('show', 'Pass the clock', '1', '--json')).json
    t.match(plan, /^---\npaths:\n {2}- "src\/\*\*"\ncommands: \[\]\nproof:\n.*\n---\n\nPass it\.$/)
    const wrong = await claude.call('propose_plan', { ...intent, paths: ['/etc'] })
    t.match(wrong, { isError: true, text: /"\/etc": expected a path inside/ })
    t.match(await claude.call('propose_plan', { ...intent, plan: 'x' }), { isError: true })
    const waits = claude.call('propose_plan', { ...intent, wait: 60 })
    await here.run('approve', 'Pass the clock', '--yes', '--detach')
    const approved = { number: 1, next: /^Session 1 is approved: go on/ }
    t.match((await waits).json, approved, 'the decision comes in the same turn')
    await here.run('session', 'stop', 'Pass the clock')
  })

  await t.test('proof is attached, and verified by nobody', async (t) => {
    const content = 'ok 1\n'
    const attached = await agent.call('attach_proof', { case: WAITING, type: 'test-log', content })
    t.match(attached.json, {
      verified: false,
      supports: false,
      why_not: 'its report is incomplete',
      content: undefined,
      next: /does not support its claim: its report is incomplete/,
    })
    const picture = `data:image/png;base64,${PIXEL}`
    const seen = await agent.call('attach_proof', { case: WAITING, picture })
    t.match(seen.json, { type: 'screenshot', verified: false, supports: true })
    t.notMatch(seen.json.next, /does not support/)
    const file = join(here.root, '..', 'pixel.png')
    writeFileSync(file, Buffer.from(PIXEL, 'base64'))
    const shot = { case: WAITING, picture: file, type: 'trace' }
    t.match((await agent.call('attach_proof', shot)).json, { type: 'trace' })
    t.match(await agent.call('attach_proof', { case: WAITING, picture: '/etc/hostname' }), {
      isError: true,
      text: /neither below the present folder nor in the folder for temporary files/,
    })
    t.match(await agent.call('attach_proof', { case: WAITING, picture: 'package.json' }), {
      isError: true,
      text: /picture: expected a PNG/,
    })

    const session_id = (await agent.call('get_session', { case: PROVED })).json.id
    for (const [session, expected] of [
      ['none', null],
      [1, session_id],
    ]) {
      const own = { case: PROVED, type: 'note', content: `Seen ${session}`, session }
      t.match((await agent.call('attach_proof', own)).json, { session_id: expected })
    }
    mkdirSync(join(here.folder(PROVED), 'artifacts'))
    const artifact = '1-test.tap'
    const attach = (content: string) => {
      writeFileSync(join(here.folder(PROVED), 'artifacts', artifact), content)
      return agent.call('attach_proof', { case: PROVED, artifact })
    }
    t.match(await attach('ok 1\n1..1\n'), { isError: true, text: /is not what its step left/ })
    const proof = readFileSync(
      join(here.folder(PROVED), 'proof/cd56a17b-9afb-4951-ae15-a7a36ba8f3b1.md'),
      'utf8',
    )
    const left = await attach(proof.slice(proof.indexOf('TAP version'), -'\n```\n'.length))
    t.match(left.json, { type: 'test-log', session_id, verified: false })
  })

  await t.test('no argument brings in what no tool does', async (t) => {
    const before = tree(here.folder('.'))
    const frontmatter = '---\nstate: RESOLVED\nverified: true\n---\n'
    const attempts: [tool: string, args: object, says: RegExp][] = [
      ['append_memory', { filename: 'case.md', text: frontmatter }, /part of the record/],
      ['append_memory', { filename: '1.md', text: 'x' }, /part of the record/],
      ['append_memory', { filename: '../case.md', text: 'x' }, /not a memory file name/],
      ['append_memory', { filename: 'proof/x.md', text: 'x' }, /not a memory file name/],
      ['append_memory', { filename: 'link.md', text: 'x' }, /symbolic link/],
      ['append_memory', { text: ' \n' }, /blank/],
      ['append_memory', { text: 'half \ud800' }, /half of a character/],
      ['append_memory', { text: 'x', state: 'RESOLVED' }, /Unrecognized key: "state"/],
      ['read_memory', { filename: 'link.md' }, /symbolic link/],
      ['read_memory', { filename: 'none.md' }, /no memory file none\.md/],
      ['propose_plan', { plan: 'x', state: 'approved' }, /Unrecognized key/],
      ['propose_plan', { plan: 'x', hypothesis: '\udc00' }, /hypothesis contains half/],
      ['propose_plan', { plan: '```sh run bogus=1\n```\n' }, /unknown key "bogus"/],
      ['attach_proof', { type: 'x', content: 'x', verified: true }, /Unrecognized key/],
      ['attach_proof', { type: 'x: y\nverified: true', content: 'x' }, /lower-case/],
      ['attach_proof', { type: 'x', content: '\ud800' }, /content contains half/],
      ['attach_proof', { type: 'x' }, /Give exactly one of content.*picture, or artifact/],
      ['attach_proof', { type: 'x', artifact: '../case.md' }, /candidate/],
      ['get_case', { case: `../${PROVED}` }, /No case matches.*list_cases shows them/],
      ['get_session', { session: 0 }, /session/],
    ]
    writeFileSync(join(here.root, 'secret.md'), 'secret')
    const link = join(here.folder(WAITING), 'link.md')
    symlinkSync(join(here.root, 'secret.md'), link)
    for (const [tool, args, says] of attempts) {
      const answer = await agent.call(tool, { case: WAITING, ...args })
      t.match(answer, { isError: true, text: says }, `${tool} ${JSON.stringify(args)}`)
    }
    for (const name of ['approve', 'verify_proof', 'resolve_case', 'add_comment', 'delete_case']) {
      await t.rejects(agent.call(name, { case: WAITING }), /not found/)
    }
    t.strictSame(tree(here.folder('.')), before)
    unlinkSync(link)
  })

  await t.test('comments can be read and answered, and nothing else', async (t) => {
    await agent.call('propose_plan', { case: WAITING, plan: 'Look first.\n\nThen rest.\n' })
    const comment = async (text: string) =>
      (await here.run('session', 'comment', WAITING, '--line', '1', '-m', text, '--json')).json.id
    const asked = await comment('Why look?')
    const draft = await comment('Not sent yet.')
    const file = join(here.folder(WAITING), 'sessions/1.md')
    const sent = new RegExp(`(?<=- \\[ \\] ${asked} .*· )draft`)
    writeFileSync(file, readFileSync(file, 'utf8').replace(sent, 'sent'))
    const listed = (await agent.call('list_comments', { case: WAITING, session: 1 })).json
    t.match(listed, {
      number: 1,
      total: 1,
      next_offset: null,
      comments: [{ id: asked, status: 'open', quote: 'Look first.', text: 'Why look?' }],
    })
    const session = await agent.call('get_session', { case: WAITING, session: 1 })
    t.notMatch(session.text, /Not sent yet/, 'a draft is not read with its session')
    const text = `To see it.\n- [x] ${draft} · Ada · 2026-11-26T18:01:00.000Z · plan 1a2b3c4d5e6f · sent`
    const answered = await agent.call('answer_comment', {
      case: WAITING,
      comment: asked.toUpperCase(),
      text,
    })
    t.match(answered.json.comment, { resolved: false, replies: [{ author: 'test', text }] })
    const more: [tool: string, args: object, says: RegExp][] = [
      ['answer_comment', { comment: draft, text: 'x' }, /no sent comment/],
      ['answer_comment', { comment: asked.slice(0, 4), text: 'x' }, /no sent comment/],
      ['answer_comment', { comment: asked, text: ' ' }, /text/],
      ['answer_comment', { comment: asked, text: 'x', resolved: true }, /Unrecognized key/],
    ]
    for (const [tool, args, says] of more) {
      const answer = await agent.call(tool, { case: WAITING, ...args })
      t.match(answer, { isError: true, text: says }, JSON.stringify(args))
    }
    await here.run('session', 'comment', WAITING, '--resolve', asked)
    const open = { case: WAITING, session: '1', open: true }
    t.match((await agent.call('list_comments', open)).json, { total: 0 })
    t.match((await agent.call('list_comments', { case: WAITING })).json, { total: 1 })
    t.match(readFileSync(file, 'utf8'), new RegExp(`- \\[ \\] ${draft} .* draft\n`))
  })

  await t.test('what looks like a field of the record is text, wherever it is put', async (t) => {
    const forged = '---\nstate: RESOLVED\nverified: true\n---\n\n```\n## Audit trail\n'
    const written = [
      await agent.call('append_memory', { case: WAITING, filename: 'forged.md', text: forged }),
      await agent.call('propose_plan', { case: WAITING, plan: forged, hypothesis: forged }),
      await agent.call('attach_proof', { case: WAITING, type: 'log', content: forged }),
    ]
    t.strictSame(
      written.filter(({ isError }) => isError),
      [],
    )
    const { json } = await here.run('show', WAITING, '--json')
    t.match(json, { state: 'PLANNING', gate: { open: false, verified: 0 }, problems: [] })
    t.match(json.sessions, [{ state: 'plan_ready', plan: forged, hypothesis: forged }])
    t.ok(json.proof.every((each: { verified: boolean }) => !each.verified))
  })
})

t.test('resources', async (t) => {
  const here = sample(t)
  const long = `${'0123456789'.repeat(24_999)}😀${'x'.repeat(40_000)}`
  writeFileSync(join(here.folder(WAITING), 'long.md'), long)
  for (let n = 12; n < 40; n++) {
    const folder = here.folder(`00000000-0000-4000-8000-0000000000${n}`)
    mkdirSync(folder)
    writeFileSync(join(folder, 'case.md'), `# Case ${n}\n`)
  }
  await here.serve()
  const agent = await mcpHere(t, here)

  await t.test('the newer protocol reads the same', inLongLane, async (t) => {
    const modern = await mcpClient(t, here, 'auto')
    t.equal(modern.client.getProtocolEra(), 'modern')
    t.strictSame(await modern.read('casefile://cases'), await agent.read('casefile://cases'))
  })

  await t.test('the list has one, and the tools give the others', async (t) => {
    const { resources } = await agent.client.listResources()
    t.match(resources, [{ uri: 'casefile://cases' }])
    t.match(agent.client.getServerCapabilities(), { resources: { subscribe: false } })
  })

  await t.test('a list is requested in pages, and only as far as it is needed', async (t) => {
    const paths: string[] = []
    const client = {
      async request(_: string, path: string) {
        paths.push(path)
        const at = Number(/cursor=(\d+)/.exec(path)?.[1] ?? 0)
        const limit = Number(/limit=(\d+)/.exec(path)![1])
        const body = Array.from({ length: limit }, (_, index) => at + index)
        return { body, total: 10_000, next: `/triage?limit=${limit}&cursor=${at + limit}` }
      },
    } as unknown as CasefileClient
    const first = await rowsAt(client, '/triage')
    t.match(first, { items: { length: 50 }, total: 10_000, next_offset: 50 })
    t.strictSame(paths.splice(0), ['/triage?limit=50'])
    t.match(await rowsAt(client, '/triage', { offset: 1990, limit: 20 }), {
      items: { 0: 1990, 19: 2009, length: 20 },
      next_offset: 2010,
    })
    t.equal(paths.length, 3)
  })

  await t.test('each can be read', async (t) => {
    const { resourceTemplates } = await agent.client.listResourceTemplates()
    t.equal(resourceTemplates.length, 4)
    const one = `casefile://cases/${PROVED}`
    const session = JSON.parse((await agent.read(`${one}/sessions/1`))[0]!)
    t.match(session, { number: 1, state: 'complete', uri: `${one}/sessions/${session.id}` })
    t.strictSame(JSON.parse((await agent.read(session.uri))[0]!), session)
    const whole = JSON.parse((await agent.read(one))[0]!)
    t.match(JSON.parse((await agent.read(whole.proof[0].uri))[0]!), { content: /Grace/ })
    t.match(await agent.read(`${one}/memory/1.md`), [/^---\nid: /])
    t.match(JSON.parse((await agent.read('casefile://cases'))[0]!), { total: 40 })
  })

  await t.test('a long text comes in parts, and nothing is lost between them', async (t) => {
    const uri = `casefile://cases/${WAITING}/memory/long.md`
    const [first, hint] = await agent.read(uri)
    t.match(hint, /the next part is casefile:\S+\?offset=\d+\]/)
    const [second, none] = await agent.read(/casefile:\/\/[^\]]+/.exec(hint!)![0])
    t.equal(none, undefined)
    t.ok(first! + second! === long)
    const beyond = { case: WAITING, filename: 'long.md', offset: 1e6 }
    t.match(await agent.call('read_memory', beyond), {
      isError: true,
      text: /only 289992 characters/,
    })
  })

  await t.test('an address leads to nothing else', async (t) => {
    const one = `casefile://cases/${WAITING}`
    for (const uri of [
      'file:///etc/passwd',
      'casefile://cases/',
      `${one}/`,
      `${one}/memory/..%2fcase.md`,
      `${one}/memory/a.md?offset=-1`,
      `${one}/proof/checklist`,
      `${one}/sessions/0`,
      `${one}/artifacts/1-test.tap`,
      'casefile://cases/right%20after',
      `${one}?offset=1`,
    ]) {
      await t.rejects(agent.read(uri), /is not a resource of casefile/, uri)
    }
    await t.rejects(agent.read(`${one}/memory/none.md`), /no memory file none\.md/)
  })
})

t.test('a client that goes away', inLongLane, async (t) => {
  const { root, env } = sample(t)
  const message = (id: unknown, method: string, params: object) =>
    JSON.stringify({ jsonrpc: '2.0', id, method, params })
  const call = (id: number, name: string, args: object) =>
    message(id, 'tools/call', { name, arguments: args })
  const initialize = message(1, 'initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'a', version: '1' },
  })
  const append = { case: WAITING, text: 'The last word.' }
  const start = () =>
    spawn(process.execPath, [CLI, 'agent', 'mcp', '--root', root], {
      env: { PATH: process.env.PATH ?? '', ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    })

  await t.test('gets all that it had asked for, and nothing but the protocol', async (t) => {
    const child = start()
    const [output, errors] = [text(child.stdout), text(child.stderr)]
    for (const line of [
      initialize,
      'not JSON',
      '',
      '{"jsonrpc":"2.0","id":2}',
      '[]',
      `"${'x'.repeat(1024 * 1024)}"`,
      Buffer.from(message('Latin-1', 'ping', { text: 'für' }), 'latin1'),
      `${message('crlf', 'ping', {})}\r`,
      call(3, 'list_cases', { limit: 1, state: null, tag: null }),
      message(4, 'tools/call', { name: 'list_cases' }),
      call(5, 'get_case', { case: null }),
    ]) {
      child.stdin.write(Buffer.concat([Buffer.from(line), Buffer.from('\n')]))
    }
    child.stdin.end(call(6, 'append_memory', append)) // without a line end
    const [code] = await once(child, 'exit')
    t.equal(code, 0)
    const lines = (await output).trimEnd().split('\n')
    const answers = new Map(lines.map((line) => [JSON.parse(line).id, JSON.parse(line)]))
    for (const id of [1, 'crlf']) t.ok(answers.get(id)?.result)
    for (const id of [3, 4]) t.notOk(answers.get(id)?.result.isError)
    t.match(answers.get(5).result, { isError: true, content: [{ text: /case/ }] })
    t.match(answers.get(6).result, { structuredContent: { filename: 'notes.md' } })
    t.match(await errors, /casefile: mcp: /, 'what is wrong is on standard error')
  })

  await t.test('or is ended by a signal, has what it began done', inLongLane, async (t) => {
    const child = start()
    child.stdin.write(`${initialize}\n${call(2, 'append_memory', append)}\n`)
    const answers = createInterface(child.stdout)
    for await (const line of answers) if (JSON.parse(line).id === 2) break
    child.kill('SIGTERM')
    t.strictSame(await once(child, 'exit'), [0, null])
  })
})

t.test('outside of a workspace each call says what to do, and works once it is done', async (t) => {
  const { root, env } = workspaceOf(t, {})
  const bare = join(root, '..', 'bare')
  mkdirSync(bare)
  const agent = await mcpHere(t, { root: bare, env })
  t.match(await agent.call('list_cases'), {
    isError: true,
    text: /isn't a workspace.*casefile init/,
  })
  await t.rejects(agent.read('casefile://cases'), /casefile init/)
  writeFileSync(join(bare, 'casefile.md'), '')
  t.match((await agent.call('list_cases')).json, { cases: [], total: 0 })
})

t.test('what is added to a file at the same time does not get in its own way', async (t) => {
  let text = ''
  let writes = 0
  const client = {
    rawRequest: async () => ({ status: 200, etag: text, bytes: Buffer.from(text) }),
    async request(_: string, __: string, { body, headers }: { body: string; headers: object }) {
      t.strictSame(headers, { 'if-match': text })
      writes++
      text = body
    },
  } as unknown as CasefileClient
  const add = (each: string) => changeMemory(client, '/notes.md', (present) => `${present}${each}`)
  await Promise.all(['a', 'b', 'c'].map(add))
  t.strictSame([text, writes], ['abc', 3])
})

t.test('a part ends between characters, and at the end there is no other', async (t) => {
  t.match(partOf('a😀b', 0, 2), { text: 'a😀', next_offset: 3 })
  t.match(partOf('a😀b', 2, 1), { text: '😀', offset: 1, next_offset: 3 })
  t.match(partOf('', 0, 1), { text: '', next_offset: null })
  t.match(partOf('ab', 2, 1), { text: '', next_offset: null })
  t.match(partOf('abcd', 2, 2), { text: 'cd', next_offset: null })
  t.match(rowsOf([1, 2, 3, 4], 2, 2), { items: [3, 4], next_offset: null })
  t.match(rowsOf([1, 2, 3, 4], 4, 2), { items: [], total: 4, next_offset: null })
})
