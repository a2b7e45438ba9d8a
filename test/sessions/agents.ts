import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { sha256 } from '../../src/markdown/session-file.ts'
import {
  agentFiles,
  committed,
  LIST_PLAN,
  type PlainAgent,
  plannedBy,
  plannedOn,
  program,
  says,
} from '../fixtures/plain-agents.ts'
import {
  type Client,
  finished,
  git,
  must,
  type Ref,
  reaches,
  stream,
} from '../fixtures/session-client.ts'
import { SHORT_LIMITS } from '../fixtures/short-limits.ts'
import {
  openTestService,
  type TestService,
  type TestServiceOptions,
} from '../fixtures/workspace.ts'

t.jobs = 2

const isLinux = process.platform === 'linux'
const linuxOnly = isLinux ? {} : { skip: 'needs /proc' }

const RUNBOOK = `## Hypothesis\n\nIt prints.\n\n## Plan\n\nRun it.\n\n\`\`\`sh run id=it proof=tap\nprintf 'TAP version 14\\n1..1\\nok 1\\n' && echo done > done.txt\n\`\`\`\n`
const WITH_PROOF = `## Hypothesis\n\nh\n\n## Plan\n\n1. Write made.txt\n\n\`\`\`sh run id=proof proof=tap\ntest -f made.txt && printf 'TAP version 14\\n1..1\\nok 1\\n'\n\`\`\`\n`

async function serviceWith(
  t: Test,
  agents: Record<string, PlainAgent>,
  { more = '', ...options }: AgentOptions = {},
): Promise<TestService & { environment: Variables }> {
  const files = { ...agentFiles(agents, more), 'code.txt': 'one\n' }
  const { variables, ...others } = options
  // an own environment: the tests run side by side
  const environment = { ...process.env, ...variables }
  const service = await openTestService(t, { files, trust: true, environment, ...others })
  committed(service.root)
  return Object.assign(service, { environment })
}

interface AgentOptions extends Pick<TestServiceOptions, 'mount' | 'limits'> {
  more?: string
  variables?: Variables
}

type Variables = Record<string, string | undefined>

/** A home folder for the agents, where they may leave things. */
function ownHome({
  stateDir,
  environment,
}: Pick<TestService, 'stateDir'> & { environment: Variables }): string {
  const home = join(stateDir, '..', 'home')
  mkdirSync(home)
  environment.HOME = home
  return home
}

function trailOf(service: TestService, { case_id }: Ref, number = 1): string {
  const text = readFileSync(service.file(case_id, 'sessions', `${number}.md`), 'utf8')
  return text.slice(text.indexOf('## Audit trail'))
}

/** The session when it has come to its end. */
async function ended(client: Client, ref: Ref) {
  await (await stream(client, ref)).closed
  return must(client, 'GET', ref.path)
}

t.test('an agent plans, and what it was told is kept', async (t) => {
  const service = await serviceWith(t, {
    // with what plays with a terminal
    mine: {
      plan: `cat code.txt >&2; ls -a >&2; printf '## Hypothesis\\n\\nIt is small.\\n\\n## Plan\\n\\n1. \\033[31mMake\\033[0m it \\342\\200\\256bigger.\\007\\n'`,
    },
  })
  writeFileSync(join(service.root, 'untracked.txt'), 'u')
  const { id } = await service.newCase({ description: 'It is too small.' })
  await must(service, 'PUT', `/cases/${id}/memory/notes.md`, 'The pool has one.')
  const { ref, session } = await plannedOn(service, id, 'mine', { note: 'Mind the schema.' })
  t.match(session, {
    state: 'plan_ready',
    hypothesis: 'It is small.',
    plan: '1. Make it bigger.',
    provider: 'mine',
    problems: { length: 0 },
  })
  const prompt = readFileSync(service.file(id, 'artifacts', '1-plan-prompt.md'), 'utf8')
  for (const part of [
    'It is too small.',
    'The pool has one.',
    'Mind the standing instructions.',
    'Mind the schema.',
  ]) {
    t.ok(prompt.includes(part), part)
  }
  const trail = trailOf(service, ref)
  t.match(trail, `prompt=1-plan-prompt.md prompt_bytes=${Buffer.byteLength(prompt)}`)
  t.match(trail, `prompt_sha256=${sha256(prompt)}`)
  t.match(trail, /files=\["case\.md","casefile\.md","history\.md","notes\.md"\]/)
  t.match(trail, /guarded mode=plan guard=(?:mount|comparison reason=)/)
  t.match(trail, /agent_started mode=plan/)
  const log = readFileSync(service.file(id, 'artifacts', '1-plan-agent.log'), 'utf8')
  t.match(log, /^one$/m, 'it saw the file')
  t.match(log, /^untracked\.txt$/m, 'and the one that git does not know')
  t.notMatch(log, /^memory$/m, 'the records are not in its copy')
  t.strictSame(readdirSync(join(service.stateDir, 'scratch')), [], 'the copy is gone')
})

t.test('planning that writes is a violation', async (t) => {
  const write: [name: string, script: string, expected: RegExp][] = [
    [
      'files',
      'echo x > new.txt; echo x >> code.txt; mkdir ignored; echo x > ignored/x',
      /plan_violation: .*code\.txt \(in its copy\), ignored\/.* \(in its copy\), new\.txt \(in its copy\)/,
    ],
    ['a stash', 'echo x >> code.txt; git -c user.name=a -c user.email=a@b stash -q', /stash/],
  ]
  const agents = Object.fromEntries(
    write.map(([, script], index) => [`a${index}`, { plan: `${script}\n${says(LIST_PLAN)}` }]),
  )
  const service = await serviceWith(t, agents)
  for (const [index, [name, , expected]] of write.entries()) {
    await t.test(name, async (t) => {
      const { ref, session } = await plannedBy(service, `a${index}`)
      t.equal(session.state, 'failed')
      const trail = trailOf(service, ref)
      t.match(trail, expected)
      t.match(session.output, /\nplan_violation: the agent should only have planned/)
      t.match(trail, /plan_violation copy=/)
      t.match(trail, /session_sealed/)
      t.equal(git(service.root, 'status', '--porcelain', '--ignored'), '!! memory/\n')
      t.equal(git(service.root, 'rev-list', '--all', '--count').trim(), '1')
    })
  }
})

for (const mount of [true, false]) {
  t.test(`writing where the case is, ${mount ? 'with' : 'without'} mounts`, async (t) => {
    const service = await serviceWith(
      t,
      {
        all: {
          plan: `for f in code.txt ignored/y memory/.gitignore; do mkdir -p "$WORKSPACE/ignored"; echo x >> "$WORKSPACE/$f"; done; git -C "$WORKSPACE" branch other\n${says(LIST_PLAN)}`,
        },
        ignored: {
          plan: `mkdir -p "$WORKSPACE/ignored"; echo x > "$WORKSPACE/ignored/y"\n${says(LIST_PLAN)}`,
        },
      },
      { mount, more: 'env: [WORKSPACE]\n' },
    )
    service.environment.WORKSPACE = service.root
    await service.newCase()
    const before = readFileSync(join(service.memory, '.gitignore'), 'utf8')
    for (const name of mount ? ['all'] : ['all', 'ignored']) {
      const { ref, session } = await plannedBy(service, name)
      const trail = trailOf(service, ref)
      if (/guard=mount/.test(trail)) {
        t.equal(session.state, 'plan_ready', `${name}: nothing could be written`)
        t.equal(readFileSync(join(service.root, 'code.txt'), 'utf8'), 'one\n')
        t.notOk(existsSync(join(service.root, 'ignored')))
        t.equal(git(service.root, 'branch', '--list', 'other'), '')
        t.equal(readFileSync(join(service.memory, '.gitignore'), 'utf8'), before)
      } else {
        t.equal(session.state, 'failed', name)
        t.match(trail, /\(in the working folder\)/)
        t.match(trail, /you or one of your programs/)
      }
    }
  })
}

t.test(
  "an edit of the operator's is no violation where the agent cannot have made it",
  async (t) => {
    const service = await serviceWith(t, {
      slow: {
        plan: `echo begun; while [ ! -e "$HOME/go-on" ]; do sleep 0.05; done\n${says(LIST_PLAN)}`,
      },
    })
    const home = ownHome(service)
    const { id: case_id } = await service.newCase()
    const { id } = await must(service, 'POST', `/cases/${case_id}/sessions`, {
      type: 'implementing',
      provider: 'slow',
    })
    const ref = { case_id, id, path: `/cases/${case_id}/sessions/${id}` }
    const events = await stream(service, ref)
    await events.next(({ event }) => event === 'session_output')
    writeFileSync(join(service.root, 'code.txt'), 'mine\n')
    writeFileSync(join(home, 'go-on'), '')
    await events.next(({ event }) => event === 'agent_completed')
    events.close()
    const trail = trailOf(service, ref)
    if (/guard=mount/.test(trail)) {
      t.match(trail, /working_folder_changed files=\["code\.txt"\]/)
      t.match(await must(service, 'GET', ref.path), { state: 'plan_ready' })
    } else {
      t.match(trail, /plan_violation working_folder=\["code\.txt"\]/)
    }
  },
)

t.test('a plan that is a runbook needs no agent', async (t) => {
  const service = await serviceWith(t, {
    both: { plan: says(RUNBOOK), work: 'echo never > agent-ran' },
    list: { plan: says(LIST_PLAN) },
  })
  for (const name of ['both']) {
    const { ref } = await plannedBy(service, name)
    const { session } = await finished(service, ref)
    t.match(session, { state: 'complete', tests: { run: 1, passed: 1, failed: 0 } }, name)
    const record = readFileSync(service.file(ref.case_id, 'sessions', '1.md'), 'utf8')
    t.match(record, `session_started provider=${name} runs=steps`)
    t.equal(session.diff.file, 'done.txt')
    t.notOk(existsSync(join(service.root, 'agent-ran')))
    git(service.root, 'clean', '-fdq')
  }
  const { ref } = await plannedBy(service, 'list')
  const answer = await service.request('POST', `${ref.path}/approve`)
  t.equal(answer.status, 422, 'a list, and nobody to carry it out')
  t.match(answer.json.detail, /has no command for work/)
  t.match(await must(service, 'GET', ref.path), { state: 'plan_ready' })
})

t.test('an agent works, and the service takes the evidence', async (t) => {
  const service = await serviceWith(t, {
    good: { plan: says(WITH_PROOF), work: 'echo made > made.txt; echo "All 99 tests pass"' },
    lies: { plan: says(WITH_PROOF), work: 'echo "I made it, all tests pass"' },
    fails: { plan: says(LIST_PLAN), work: 'echo half > half.txt; echo sorry >&2; exit 3' },
  })
  await t.test('well', async (t) => {
    const { ref } = await plannedBy(service, 'good')
    const { session } = await finished(service, ref)
    t.match(session, { state: 'complete', tests: { run: 1, passed: 1, failed: 0 } })
    t.equal(session.diff.file, 'made.txt')
    t.match(session.output, /All 99 tests pass/)
    const names = session.candidates.map((each: { artifact: string }) => each.artifact)
    t.ok(names.includes('1-proof.tap'), String(names))
    const prompt = readFileSync(service.file(ref.case_id, 'artifacts', '1-work-prompt.md'), 'utf8')
    t.ok(prompt.includes(session.plan) && prompt.includes(session.plan_sha256))
    git(service.root, 'clean', '-fdq')
  })
  await t.test('the proof says otherwise', async (t) => {
    const { ref } = await plannedBy(service, 'lies')
    const { session } = await finished(service, ref)
    t.equal(session.state, 'failed')
    t.match(session.output, /step proof exited with 1/)
  })
  await t.test('a new session knows of one that failed', async (t) => {
    const { ref } = await plannedBy(service, 'fails')
    const { session } = await finished(service, ref)
    t.equal(session.state, 'failed')
    t.match(session.output, /sorry/)
    t.equal(session.diff.file, 'half.txt', 'what it did is in the record')
    await plannedOn(service, ref.case_id, 'good')
    const prompt = readFileSync(service.file(ref.case_id, 'artifacts', '2-plan-prompt.md'), 'utf8')
    t.match(prompt, /# Earlier session 1\n\nType implementing, run by fails: failed\. .*sorry/s)
  })
})

t.test('approval binds', async (t) => {
  const service = await serviceWith(t, {
    again: {
      plan: `if [ -e "$HOME/second" ]; then ${says('## Plan\n\n1. Two')}\nelse ${says('## Plan\n\n1. One')}\nfi`,
      work: 'true',
    },
  })
  const home = ownHome(service)
  const { ref, session } = await plannedBy(service, 'again')
  t.equal(session.plan, '1. One')
  writeFileSync(join(home, 'second'), '')
  await must(service, 'POST', `${ref.path}/revise`, { note: 'Not one but two.' })
  await reaches(service, ref, 'planning')
  const events = await stream(service, ref)
  await events.next(
    ({ event, data }) => event === 'plan_written' && data.includes(sha256('1. Two')),
  )
  await events.next(({ data }) => JSON.parse(data).payload.new_state === 'plan_ready')
  events.close()
  const prompt = readFileSync(service.file(ref.case_id, 'artifacts', '1-plan-prompt-2.md'), 'utf8')
  t.match(prompt, /Not one but two\.[\s\S]*1\. One/)
  const old = await service.request('POST', `${ref.path}/approve`, {
    plan_sha256: session.plan_sha256,
  })
  t.equal(old.status, 409, 'the plan that was read first is not the one there is')
  const { plan_sha256 } = await must(service, 'GET', ref.path)
  await must(service, 'POST', `${ref.path}/approve`, { plan_sha256 })
  t.match(await ended(service, ref), { state: 'complete', plan: '1. Two' })
  t.match(trailOf(service, ref), `via=api plan_sha256=${plan_sha256} plan="1. Two"`)
})

const OPENS_THE_GATE = [
  'cd "$RECORDS/cases/$CASEFILE_CASE"',
  "sed -i 's/^verified: false/verified: true/' proof/*.md",
  "sed -i '/another proof/d' case.md",
  "sed -i 's/^state: .*/state: RESOLVED/' case.md",
  'echo tried',
].join('\n')

t.test('the gate, and an agent that edits its case without mounts', async (t) => {
  const service = await serviceWith(
    t,
    { opens: { plan: says(LIST_PLAN), work: OPENS_THE_GATE } },
    { mount: false, more: 'env: [RECORDS]\n' },
  )
  service.environment.RECORDS = service.memory
  const { id } = await service.newCase()
  const proof = await must(service, 'POST', `/cases/${id}/proof`, { type: 'log', content: 'x' })
  const item = { description: 'another proof', type: 'trace', required: true }
  await must(service, 'POST', `/cases/${id}/proof/checklist`, item)
  const { ref } = await plannedOn(service, id, 'opens')
  await finished(service, ref)
  const trail = trailOf(service, ref)
  for (const what of ['verification', 'checklist', 'state'])
    t.match(trail, new RegExp(`changed_during_run .*what=${what}`))
  for (const round of ['at once', 'after a restart']) {
    const { state, problems } = await must(service, 'GET', `/cases/${id}`)
    t.not(state, 'RESOLVED', round)
    t.ok(
      problems.some(({ code }: { code: string }) => code === 'changed_during_run'),
      round,
    )
    t.match(await must(service, 'GET', `/cases/${id}/proof/${proof.id}`), { verified: false })
    t.match(await must(service, 'GET', `/cases/${id}/gate`), { open: false, verified: 0 })
    await service.restart()
  }
  const shut = await service.request('PUT', `/cases/${id}/state`, { state: 'RESOLVED' })
  t.equal(shut.status, 422, 'the gate is shut as before')
  await must(service, 'PUT', `/cases/${id}/proof/${proof.id}/verify`)
  t.match(await must(service, 'GET', `/cases/${id}/gate`), { open: false, verified: 1 })
})

t.test('records that change while an agent plans without mounts do not count', async (t) => {
  const service = await serviceWith(
    t,
    { opens: { plan: `${OPENS_THE_GATE} >&2\n${says(LIST_PLAN)}`, work: 'true' } },
    { mount: false, more: 'env: [RECORDS]\n' },
  )
  service.environment.RECORDS = service.memory
  const { id } = await service.newCase()
  await must(service, 'POST', `/cases/${id}/proof`, { type: 'log', content: 'x' })
  const { session } = await plannedOn(service, id, 'opens')
  t.equal(session.state, 'plan_ready')
  const { state, problems } = await must(service, 'GET', `/cases/${id}`)
  t.not(state, 'RESOLVED')
  t.ok(problems.some(({ code }: { code: string }) => code === 'changed_during_run'))
  t.match(await must(service, 'GET', `/cases/${id}/gate`), { open: false, verified: 0 })
})

t.test(
  'a plan that another session could have written is approved by its hash alone',
  async (t) => {
    const service = await serviceWith(
      t,
      {
        waits: { plan: says(LIST_PLAN), work: 'true' },
        edits: {
          plan: says(LIST_PLAN),
          work: 'sed -i "s/^1. Make it bigger\\./1. Give all away./" "$RECORDS"/cases/"$OTHER"/sessions/1.md',
        },
      },
      { mount: false, more: 'env: [RECORDS, OTHER]\n', limits: { handEdit: 500 } },
    )
    const { ref } = await plannedBy(service, 'waits')
    Object.assign(service.environment, { RECORDS: service.memory, OTHER: ref.case_id })
    const other = await plannedBy(service, 'edits')
    await finished(service, other.ref)
    const { plan, plan_sha256 } = await must(service, 'GET', ref.path)
    t.equal(plan, '1. Give all away.')
    const blind = await service.request('POST', `${ref.path}/approve`)
    t.match(blind, { status: 409, json: { plan_sha256 } })
    await reachesLine(service, ref, /plan_edited by=hand .*in_run=true/)
    await service.restart()
    t.equal(
      (await service.request('POST', `${ref.path}/approve`)).status,
      409,
      'after a restart too',
    )
    await must(service, 'POST', `${ref.path}/approve`, { plan_sha256 })
    t.match(await ended(service, ref), { state: 'complete' })
  },
)

/** Waits for a line of the trail: a hand edit is answered after a while. */
async function reachesLine(service: TestService, ref: Ref, line: RegExp): Promise<void> {
  while (!line.test(trailOf(service, ref))) await new Promise((resolve) => setTimeout(resolve, 50))
}

t.test('what an agent says of itself without end', async (t) => {
  const many = `i=0; while [ $i -lt 3000 ]; do echo '{"type":"system","subtype":"init","session_id":"s'$i'"}'; i=$((i+1)); done`
  const service = await serviceWith(t, { loud: { plan: `${many}\n${says(LIST_PLAN)}` } })
  const settings = readFileSync(join(service.root, 'casefile.md'), 'utf8')
  writeFileSync(
    join(service.root, 'casefile.md'),
    settings.replace('kind: command,', 'kind: command, stream: claude,'),
  )
  await service.restart()
  const { ref } = await plannedBy(service, 'loud')
  const trail = trailOf(service, ref)
  t.equal(trail.match(/ agent_session /g)?.length, 4)
  t.match(trail, /notes_unlisted agent_session=\d+/)
})

t.test('a conversation that stands in the file alone is not gone on with', async (t) => {
  const service = await serviceWith(t, {})
  const bin = join(service.stateDir, '..', 'bin')
  const text = (plan: string) =>
    JSON.stringify({
      type: 'result',
      subtype: 'success',
      is_error: false,
      result: plan,
      permission_denials: [],
    })
  program(
    bin,
    'claude',
    `#!/bin/sh\ncat > /dev/null\necho "$@" >&2\nfor w; do [ "$p" = --session-id ] && id=$w; p=$w; done\necho '{"type":"system","subtype":"init","session_id":"'"\${id:-other}"'"}'\necho '${text('## Plan\\n\\n1. One')}'\n`,
  )
  service.environment.PATH = `${bin}:${process.env.PATH}`
  const { ref } = await plannedBy(service, 'claude')
  const again = async (number: number) => {
    await must(service, 'POST', `${ref.path}/revise`, { note: 'again' })
    await reaches(service, ref, 'planning')
    const name = service.file(
      ref.case_id,
      'artifacts',
      `1-plan-agent${number === 1 ? '' : `-${number}`}.log`,
    )
    const events = await stream(service, ref)
    let ready = 0
    await events.next(
      ({ data }) => JSON.parse(data).payload.new_state === 'plan_ready' && ++ready === number,
    )
    events.close()
    return readFileSync(name, 'utf8')
  }
  t.match(await again(2), /--resume [0-9a-f-]{36}/, 'its own, from this process')
  const path = service.file(ref.case_id, 'sessions', '1.md')
  await service.close()
  const forged = readFileSync(path, 'utf8').replace(
    /agent_session=\S+/g,
    'agent_session=--dangerously-skip-permissions',
  )
  writeFileSync(path, forged)
  await service.restart()
  const words = await again(3)
  t.notMatch(words, /--resume|dangerously/)
})

t.test('an agent that plans without end', linuxOnly, async (t) => {
  const stay = 'trap "" TERM; setsid sleep 3600 & echo begun; while :; do sleep 0.1; done'
  const agents = { plans: { plan: stay } }
  await t.test('is abandoned', async (t) => {
    const service = await serviceWith(t, agents, { limits: SHORT_LIMITS })
    const { id: case_id } = await service.newCase()
    const wanted = { type: 'implementing', provider: 'plans' }
    const { id } = await must(service, 'POST', `/cases/${case_id}/sessions`, wanted)
    const ref = { case_id, id, path: `/cases/${case_id}/sessions/${id}` }
    const events = await stream(service, ref)
    await events.next(({ event, data }) => event === 'session_output' && data.includes('begun'))
    await must(service, 'POST', `${ref.path}/abandon`, { reason: 'enough' })
    t.match(await must(service, 'GET', ref.path), { state: 'abandoned', output: /begun/ })
    t.strictSame(marked(id), [])
    t.strictSame(readdirSync(join(service.stateDir, 'scratch')), [])
  })
  await t.test('reaches its time limit', async (t) => {
    const more = 'timeout: { plan: 1s }\n'
    const service = await serviceWith(t, agents, { more, limits: SHORT_LIMITS })
    const { ref, session } = await plannedBy(service, 'plans')
    t.equal(session.state, 'failed')
    t.match(trailOf(service, ref), /reached its time limit/)
    t.strictSame(marked(session.id), [])
  })
})

/** Processes that carry the session's id in their environment. */
function marked(sessionId: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false
    try {
      return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`CASEFILE_SESSION=${sessionId}`)
    } catch {
      return false // it has ended meanwhile
    }
  })
}

t.test('an agent that is not installed is refused, and nothing is written', async (t) => {
  const files = {
    'casefile.md':
      '---\nproviders:\n  absent: { kind: acp, command: [no-such-agent] }\n  own: { kind: command, plan: [./agent.sh] }\n  plain: { kind: command, plan: [./plain.txt] }\n---\n',
    'plain.txt': 'x',
  }
  const service = await openTestService(t, { files, trust: true })
  const table: [provider: string, detail: RegExp][] = [
    ['absent', /"no-such-agent" was not found on the PATH of the service\..*another provider/],
    ['own', /"\.\/agent\.sh" was not found in the working folder/],
    ['plain', /"\.\/plain\.txt" is in the working folder, but is not executable/],
  ]
  for (const [provider, detail] of table) {
    const { id } = await service.newCase()
    const path = `/cases/${id}/sessions`
    t.match(await service.request('POST', path, { type: 'planning', provider }), {
      status: 422,
      json: { code: 'provider_unavailable', detail },
    })
    t.notOk(existsSync(service.file(id, 'sessions')))
    t.match(await must(service, 'GET', `/cases/${id}`), { state: 'OPEN' })
  }
})

t.test('an agent that vanishes later fails its session', async (t) => {
  const bin = join(t.testdirName, '..', 'vanishing-bin')
  const agent = program(bin, 'vanishing', `#!/bin/sh\ncat > /dev/null\n${says(LIST_PLAN)}\n`)
  t.teardown(() => rmSync(bin, { recursive: true, force: true }))
  const files = {
    'casefile.md': `---\nproviders: { v: { kind: command, plan: [${agent}], work: [${agent}] } }\n---\n`,
  }
  const service = await openTestService(t, { files, trust: true })
  const { ref, session } = await plannedBy(service, 'v')
  t.equal(session.state, 'plan_ready')
  rmSync(agent)
  const { session: ended } = await finished(service, ref)
  t.match(ended, { state: 'failed', output: /was not found/ })
})
