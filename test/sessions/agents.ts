import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { sha256 } from '../../src/markdown/session-file.ts'
import type { TimeLimits } from '../../src/runners/time-limits.ts'
import { inLongLane } from '../fixtures/full.ts'
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
  planned,
  type Ref,
  reachesAgain,
  step,
  stream,
} from '../fixtures/session-client.ts'
import { recordOf, until } from '../fixtures/session-record.ts'
import { SHORT_LIMITS } from '../fixtures/short-limits.ts'
import { openTestService } from '../fixtures/workspace.ts'

const linuxOnly = process.platform === 'linux' ? {} : { skip: 'needs /proc' }

const PASSES = "printf 'TAP version 14\\n1..1\\nok 1\\n'"
const RUNBOOK = `## Hypothesis\n\nIt prints.\n\n## Plan\n\nRun it.\n\n${step(`${PASSES} && echo done > done.txt`, 'sh run id=it proof=tap')}`
const WITH_PROOF = `## Hypothesis\n\nh\n\n## Plan\n\n1. Write made.txt\n\n${step(`test -f made.txt && ${PASSES}`, 'sh run id=proof proof=tap')}`

const WRITES = `mkdir -p ignored; for f in code.txt ignored/y memory/.gitignore; do echo x >> $f; done
git branch other`

const CLAUDE = `#!/bin/sh
cat > /dev/null
echo "$@" >&2
for w; do [ "$p" = --session-id ] && id=$w; p=$w; done
for each in a b "\${id:-other}" c d; do echo '{"type":"system","subtype":"init","session_id":"'$each'"}'; done
echo '${JSON.stringify({
  type: 'result',
  subtype: 'success',
  is_error: false,
  result: '## Plan\\n\\n1. One',
  permission_denials: [],
})}'
`

/** A service in a repository; `home` is a folder where the agents may leave things, `bin` one for programs. */
async function serviceWith(
  t: Test,
  agents: Record<string, PlainAgent>,
  { more = '', ...options }: { more?: string; limits?: Partial<TimeLimits>; mount?: boolean } = {},
) {
  const { 'casefile.md': settings, ...files } = agentFiles(agents, 'env: [WORKSPACE]\n')
  const environment: Record<string, string | undefined> = { ...process.env }
  const service = await openTestService(t, {
    files: {
      ...files,
      'casefile.md': settings!.replace('providers:\n', `providers:\n${more}`),
      'code.txt': 'one\n',
      plain: 'x',
    },
    trust: true,
    environment,
    ...options,
  })
  committed(service.root)
  const dir = join(service.stateDir, '..')
  const [home, bin] = [join(dir, 'home'), join(dir, 'bin')]
  mkdirSync(home)
  const PATH = `${bin}:${process.env.PATH}`
  Object.assign(environment, { HOME: home, WORKSPACE: service.root, PATH })
  return Object.assign(service, { home, bin })
}

/** A new session of that provider, which has said that it has begun. */
async function begun(client: Client, provider: string) {
  const { id: case_id } = await must(client, 'POST', '/cases', { title: 'A case' })
  const wanted = { type: 'implementing', provider }
  const { id } = await must(client, 'POST', `/cases/${case_id}/sessions`, wanted)
  const ref: Ref = { case_id, id, path: `/cases/${case_id}/sessions/${id}` }
  const events = await stream(client, ref)
  await events.next(({ event, data }) => event === 'session_output' && data.includes('begun'))
  return { ref, events }
}

t.test('agents in mounts', inLongLane, async (t) => {
  const service = await serviceWith(
    t,
    {
      // with what plays with a terminal
      mine: {
        plan: `cat code.txt >&2; ls -a >&2; printf '## Hypothesis\\n\\nIt is small.\\n\\n## Plan\\n\\n1. \\033[31mMake\\033[0m it \\342\\200\\256bigger.\\007\\n'`,
      },
      writes: {
        plan: `echo x >> code.txt; git -c user.name=a -c user.email=a@b stash -q
echo x > new.txt; echo x >> code.txt; mkdir ignored; echo x > ignored/x\n${says(LIST_PLAN)}`,
      },
      waits: {
        plan: `git status --short; echo x > code.txt; git checkout -q code.txt; touch plain; mkdir t; rmdir t
echo begun; until [ -e "$HOME/go-on" ]; do sleep 0.05; done\n${says(LIST_PLAN)}`,
      },
      both: { plan: says(RUNBOOK), work: 'echo never > agent-ran' },
      lies: {
        plan: says(WITH_PROOF),
        work: 'echo half > half.txt; echo sorry; echo "All 99 tests pass"',
      },
      good: {
        plan: `if [ -e "$HOME/second" ]; then ${says(WITH_PROOF)}\nelse ${says('## Plan\n\n1. One')}\nfi`,
        work: 'echo made > made.txt',
      },
      endless: {
        plan: 'trap "" TERM; setsid sleep 3600 & echo begun; while :; do sleep 0.1; done',
      },
    },
    {
      more: `  absent: { kind: acp, command: [no-such-agent] }
  own: { kind: command, plan: [./agent.sh] }
  plain: { kind: command, plan: [./plain] }
  vanishing: { kind: command, plan: [vanishing], work: [vanishing] }\n`,
      limits: SHORT_LIMITS,
    },
  )
  const artifact = ({ case_id }: Ref, name: string) =>
    readFileSync(service.file(case_id, 'artifacts', name), 'utf8')
  const scratch = () => readdirSync(join(service.stateDir, 'scratch'))

  await t.test('planning that writes is a violation', async (t) => {
    const { ref, session } = await plannedBy(service, 'writes')
    t.equal(session.state, 'failed')
    const record = recordOf(service, ref)
    t.match(record, /plan_violation working_folder=.*stash.*"code\.txt","ignored\/x","new\.txt"\]/)
    t.match(session.output, /\nplan_violation: the agent should only have planned/)
    t.match(session.output, /new\.txt\. Its changes were thrown away; the working folder is as it/)
    t.match(record, /session_sealed/)
    t.equal(git(service.root, 'status', '--porcelain', '--ignored'), '!! memory/\n')
    t.equal(git(service.root, 'rev-list', '--all', '--count').trim(), '1')
  })

  await t.test('what an agent was told is kept', async (t) => {
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
    const prompt = artifact(ref, '1-plan-prompt.md')
    for (const part of [
      'It is too small.',
      'The pool has one.',
      'Mind the standing instructions.',
      'Mind the schema.',
    ]) {
      t.ok(prompt.includes(part), part)
    }
    const record = recordOf(service, ref)
    t.match(record, `prompt=1-plan-prompt.md prompt_bytes=${Buffer.byteLength(prompt)}`)
    t.match(record, `prompt_sha256=${sha256(prompt)}`)
    t.match(record, /files=\["case\.md","casefile\.md","history\.md","notes\.md"\]/)
    t.match(record, /guarded mode=plan guard=(?:mount folder=overlay|comparison reason=)/)
    t.match(record, /agent_started mode=plan/)
    const log = artifact(ref, '1-plan-agent.log')
    t.match(log, /^one$/m, 'it saw the file')
    t.match(log, /^untracked\.txt$/m, 'and the one that git does not know')
    t.strictSame(scratch(), [], 'what it had for the run is gone')
    const answer = await service.request('POST', `${ref.path}/approve`)
    t.equal(answer.status, 422, 'a list, and nobody to carry it out')
    t.match(answer.json.detail, /has no command for work/)
    t.match(await must(service, 'GET', ref.path), { state: 'plan_ready' })
  })

  await t.test("an edit of the operator's is no violation, nor what is as before", async (t) => {
    const { ref, events } = await begun(service, 'waits')
    appendFileSync(join(service.root, 'mine.txt'), 'mine\n')
    writeFileSync(join(service.home, 'go-on'), '')
    await events.next(({ event }) => event === 'agent_completed')
    events.close()
    const record = recordOf(service, ref)
    if (/guard=mount/.test(record)) {
      t.match(await must(service, 'GET', ref.path), { state: 'plan_ready' })
      t.notMatch(record, /plan_violation/)
    } else t.match(record, /plan_violation working_folder=\["mine\.txt"/)
    rmSync(join(service.root, 'mine.txt'))
  })

  await t.test('a plan that is a runbook needs no agent', async (t) => {
    const { ref } = await plannedBy(service, 'both')
    const { session } = await finished(service, ref)
    t.match(session, { state: 'complete', tests: { run: 1, passed: 1, failed: 0 } })
    t.match(recordOf(service, ref), 'session_started runs=steps state=executing')
    t.equal(session.diff.file, 'done.txt')
    t.notOk(existsSync(join(service.root, 'agent-ran')))
  })

  await t.test('an agent works, and the service takes the evidence', async (t) => {
    const { ref } = await plannedBy(service, 'lies')
    const { session } = await finished(service, ref)
    t.equal(session.state, 'failed', 'the proof says otherwise')
    t.match(session.output, /step proof exited with 1[\s\S]*> sorry/)
    t.equal(session.diff.file, 'half.txt', 'what it did is in the record')

    const next = await plannedOn(service, ref.case_id, 'good')
    const earlier = /# Earlier session 1\n\nType implementing, run by lies: failed\. .*sorry/s
    t.match(artifact(ref, '2-plan-prompt.md'), earlier, 'a new session knows of it')
    t.equal(next.session.plan, '1. One')
    const { path } = next.ref
    writeFileSync(join(service.home, 'second'), '')
    await must(service, 'POST', `${path}/revise`, { note: 'Not one but two.' })
    await reachesAgain(service, next.ref, 'plan_ready')
    t.match(artifact(ref, '2-plan-prompt-2.md'), /Not one but two\.[\s\S]*1\. One/)
    const old = { plan_sha256: next.session.plan_sha256 }
    const answer = await service.request('POST', `${path}/approve`, old)
    t.equal(answer.status, 409, 'the plan that was read first is not the one there is')
    const { session: done } = await finished(service, next.ref)
    t.match(done, {
      state: 'complete',
      plan: /^1\. Write made\.txt/,
      tests: { run: 1, passed: 1, failed: 0 },
      diff: { file: 'made.txt' },
    })
    const names = done.candidates.map((each: { artifact: string }) => each.artifact)
    t.ok(names.includes('2-proof.tap'), String(names))
    const prompt = artifact(ref, '2-work-prompt.md')
    t.ok(prompt.includes(done.plan) && prompt.includes(done.plan_sha256))
    const record = recordOf(service, ref, 2)
    t.match(record, `via=api plan_sha256=${done.plan_sha256} state=approved\n`)
  })

  await t.test('a conversation that stands in the file alone is not gone on with', async (t) => {
    program(service.bin, 'claude', CLAUDE)
    const { ref } = await plannedBy(service, 'claude')
    const record = recordOf(service, ref)
    t.equal(record.match(/ agent_session /g)?.length, 4, 'it says of itself no more')
    t.match(record, /notes_unlisted agent_session=2/)
    const again = async (number: number) => {
      await must(service, 'POST', `${ref.path}/revise`, { note: 'again' })
      await until(() => recordOf(service, ref).split(' state=plan_ready').length > number)
      return artifact(ref, `1-plan-agent-${number}.log`)
    }
    t.match(await again(2), /--resume [0-9a-f-]{36}/, 'its own, from this process')
    await service.close()
    const path = service.file(ref.case_id, 'sessions', '1.md')
    const forged = 'agent_session=--dangerously-skip-permissions'
    writeFileSync(path, readFileSync(path, 'utf8').replace(/agent_session=\S+/g, forged))
    await service.restart()
    t.notMatch(await again(3), /--resume|dangerously/)
  })

  await t.test('an agent that is not there is refused, and one that vanishes fails', async (t) => {
    const table: [provider: string, detail: RegExp][] = [
      ['absent', /"no-such-agent" was not found on the PATH of the service\..*another provider/],
      ['own', /"\.\/agent\.sh" was not found in the working folder/],
      ['plain', /"\.\/plain" is in the working folder, but is not executable/],
    ]
    const { id } = await service.newCase()
    for (const [provider, detail] of table) {
      const wanted = { type: 'planning', provider }
      t.match(await service.request('POST', `/cases/${id}/sessions`, wanted), {
        status: 422,
        json: { code: 'provider_unavailable', detail },
      })
    }
    t.notOk(existsSync(service.file(id, 'sessions')), 'nothing is written')
    t.match(await must(service, 'GET', `/cases/${id}`), { state: 'OPEN' })

    const text = `#!/bin/sh\ncat > /dev/null\n${says(WITH_PROOF)}\n`
    const agent = program(service.bin, 'vanishing', text)
    const { ref, session } = await plannedBy(service, 'vanishing')
    t.equal(session.state, 'plan_ready')
    rmSync(agent)
    const { session: ended } = await finished(service, ref)
    t.match(ended, { state: 'failed', output: /was not found/ })
  })

  await t.test('an agent that plans without end', linuxOnly, async (t) => {
    const { ref } = await begun(service, 'endless')
    await must(service, 'POST', `${ref.path}/abandon`, { reason: 'enough' })
    t.match(await must(service, 'GET', ref.path), { state: 'abandoned', output: /begun/ })
    t.strictSame(marked(ref.id), [])
    t.strictSame(scratch(), [])

    const settings = join(service.root, 'casefile.md')
    writeFileSync(
      settings,
      readFileSync(settings, 'utf8').replace('---', '---\ntimeout: { plan: 1s }'),
    )
    const late = await plannedBy(service, 'endless')
    t.equal(late.session.state, 'failed')
    t.match(recordOf(service, late.ref), /reached its time limit/)
    t.strictSame(marked(late.ref.id), [])
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

t.test('agents without mounts', inLongLane, async (t) => {
  const opens = `cd "$WORKSPACE/memory/cases/$CASEFILE_CASE"
sed -i 's/^verified: false/verified: true/' proof/*.md; sed -i 's/^state: .*/state: RESOLVED/' case.md`
  const service = await serviceWith(
    t,
    {
      writes: { plan: `(${WRITES})\n${says(LIST_PLAN)}` },
      opens: { plan: `${opens}\n${says(LIST_PLAN)}` },
    },
    { mount: false, limits: { handEdit: 500 } },
  )

  await t.test('planning that writes where the case is', async (t) => {
    const { ref, session } = await plannedBy(service, 'writes')
    t.equal(session.state, 'failed')
    const record = recordOf(service, ref)
    t.match(record, 'plan_violation working_folder=["code.txt"]', 'not what is ignored, nor refs')
    t.match(record, /you or one of your programs/)
  })

  await t.test('an agent that edits its case while it plans', async (t) => {
    const { id } = await service.newCase()
    await must(service, 'POST', `/cases/${id}/proof`, { type: 'log', content: 'x' })
    const { ref, session } = await plannedOn(service, id, 'opens')
    t.equal(session.state, 'plan_ready')
    for (const what of ['verification', 'state'])
      t.match(recordOf(service, ref), new RegExp(`changed_during_run .*what=${what}`))
    const { state, problems } = await must(service, 'GET', `/cases/${id}`)
    t.not(state, 'RESOLVED')
    t.match(problems, [{ code: 'changed_during_run' }, { code: 'changed_during_run' }])
    t.match(await must(service, 'GET', `/cases/${id}/gate`), { open: false, verified: 0 })
  })

  await t.test('a plan that another session could have written', async (t) => {
    const ref = await planned(service, { runbook: step('echo mine') })
    const file = service.file(ref.case_id, 'sessions', '1.md')
    const other = await planned(service, { runbook: step(`sed -i s/mine/yours/ '${file}'`) })
    await finished(service, other)
    const { plan, plan_sha256 } = await must(service, 'GET', ref.path)
    t.match(plan, /echo yours/)
    const approve = (body?: object) => service.request('POST', `${ref.path}/approve`, body)
    t.match(await approve(), { status: 409, json: { plan_sha256 } }, 'its hash alone counts')
    await until(() => /plan_edited by=hand .*in_run=true/.test(recordOf(service, ref)))
    await service.restart()
    t.equal((await approve()).status, 409, 'after a restart too')
    t.equal((await approve({ plan_sha256 })).status, 200)
  })
})
