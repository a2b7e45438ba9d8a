import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import t from 'tap'
import { type Answers, cliHere, interrupt } from '../fixtures/cli-here.ts'
import { agentFiles, committed } from '../fixtures/plain-agents.ts'
import { git, must, newSession, planned, reaches, step } from '../fixtures/session-client.ts'

const QUICK = step('echo quick', 'sh run id=say')
const ASKED = /Approve this plan of session 1\? \[y\/N\]/
/** Goes on beside the command; nothing is typed. */
const meanwhile = (act: () => Promise<unknown>) => () => {
  void act()
  return null
}
/** A terminal that may notify. */
const RICH = { NO_COLOR: '', TERM: 'xterm' }

t.test('at the prompt', async (t) => {
  const cli = cliHere(t)
  const service = await cli.serve()
  const plan = (title: string, runbook = QUICK) => planned(service, { runbook, fields: { title } })
  const file = (id: string) => join(cli.root, 'memory/cases', id, 'sessions/1.md')
  const approve = (answers: Answers, ...args: string[]) =>
    cli.runWith({ answers }, 'approve', ...args)

  await t.test('only yes approves, only what was shown, and the run is told', async (t) => {
    t.match(await cli.run('approve'), { code: 2, stderr: /No case has a plan to approve/ })
    const ref = await plan('Door')
    for (const answer of ['', 'yess']) {
      t.match(await approve([[ASKED, answer]], 'door'), {
        code: 6,
        unasked: [],
        stderr: /not approved; nothing was run/,
      })
    }
    t.match(await must(service, 'GET', ref.path), { state: 'plan_ready' })
    const path = file(ref.case_id)
    const changes = () => {
      writeFileSync(path, readFileSync(path, 'utf8').replace('echo quick', 'echo other'))
      return 'y'
    }
    const again =
      /-echo quick\n\+echo other[\s\S]*▶ echo other[\s\S]*this is the new one[\s\S]*\[y\/N\]/
    const answers = [[ASKED, changes] as const, [again, 'Yes'] as const]
    const done = await approve(answers, 'door')
    t.match(done, {
      code: 0,
      unasked: [],
      stderr: /Session 1 is complete\. .* \(planned .*\)\nNext: casefile prove add/,
    })
    t.match(
      done.shown,
      /▶ echo other[\s\S]*▶ say {2}sh, step 1 of 1[\s\S]*│ other\n[\s\S]*✓ say {2}exit 0/,
    )
    t.notMatch(done.stdout, /│ quick/)
    t.match(done.stderr, /step 1 of 1 {2}say {2}0:\d\d/, 'the progress line')
    t.match(await approve([], 'door'), {
      code: 1,
      stderr: /Session 1 is complete, so it has no plan to approve\.\s+Start a new one/,
    })
  })

  await t.test('among several plans a person chooses, and a program is told how', async (t) => {
    const red = await plan('Red roof')
    await plan('Blue roof')
    for (const args of [['approve'], ['session', 'plan'], ['approve', '--json']]) {
      const said = await cli.run(...args)
      t.match(said, {
        code: 2,
        stderr: new RegExp(`casefile ${args.join(' ').replace(' --json', '')} <case>`),
      })
      t.match(said.stderr, /^ {2}[0-9a-f]{8} {2}\w+ {2}Red roof$/m)
      t.match(said.stderr, /^ {2}[0-9a-f]{8} {2}\w+ {2}Blue roof$/m)
    }
    t.match(await cli.run('session', 'watch'), { code: 2, stderr: /No case has a running session/ })
    for (const wrong of ['3', '0', 'x']) {
      t.match(await approve([[/Which one\? \[1-2\]/, wrong]]), {
        code: 2,
        stderr: /No case was chosen/,
      })
    }
    const chosen = await approve([
      [/Which one\? \[1-2\]/, (shown) => /(\d) {2}[0-9a-f]{8} .*Red roof/.exec(shown)![1]!],
      [/Red roof[\s\S]*Approve this plan/, 'n'],
    ])
    t.match(chosen, { code: 6, unasked: [] })
    await must(service, 'POST', `${red.path}/abandon`)
    // the only one is not asked for
    t.match(await approve([[/Blue roof[\s\S]*Approve this plan/, 'n']]), { code: 6, unasked: [] })
    const wrong = await plan('Wrong roof', step('true', 'sh run proof=tests'))
    t.match(await approve([], 'wrong'), {
      code: 1,
      shown: /This plan cannot run:/,
      stderr: /cannot be approved\. Edit it first: casefile session\s+plan\s+\w{8}\s+1\s+--edit/,
    })
    await must(service, 'POST', `${wrong.path}/abandon`)
    const slow = await plan('Slow roof', step('echo begun; exec sleep 100'))
    const run = cli.apart.start('approve', 'slow', '--yes')
    await run.says(/│ begun/)
    run.signal('SIGINT')
    const said = await run.ended
    t.match(said, { code: 130, stderr: /session 1 keeps running\. .*session watch \w{8} 1/ })
    await must(service, 'POST', `${slow.path}/abandon`)
  })

  await t.test('comments that are sent along are counted in the question', async (t) => {
    await cli.run('session', 'comment', 'blue', '-m', 'Mind the step.')
    const question = /Approve this plan of session 1 and send 1 comment\? \[y\/N\]/
    t.match(await approve([[question, 'n']], 'blue'), { code: 6, unasked: [] })
  })

  await t.test('--next asks about plan after plan, and signals what comes', async (t) => {
    await cli.run('session', 'stop', 'blue')
    await plan('Gate')
    const said = await cli.runWith(
      {
        env: RICH,
        answers: [
          [/Gate[\s\S]*Approve this plan of session 1\? \[y\/N\]/, 'y'],
          [/│ quick[\s\S]*Waiting for the next plan/, meanwhile(() => plan('Fence'))],
          [/Fence[\s\S]*\[y\/N\]/, 'n'],
          [
            /not approved; nothing was run[\s\S]*Waiting for the next plan/,
            meanwhile(() => plan('Hedge')),
          ],
          [/Hedge[\s\S]*\[y\/N\]/, 'n'],
          [/Waiting for the next plan/, interrupt],
        ],
      },
      'approve',
      '--next',
      '--bell',
    )
    t.match(said, { code: 130, unasked: [] })
    t.equal(said.shown.match(/ {2}Fence\n/g)?.length, 1, 'a no is not asked again')
    t.match(
      said.stdout,
      `\u001b]9;Casefile: ${basename(cli.root)}: Fence: The plan of session 1 is ready\u0007\u0007`,
    )
    t.notMatch(said.stdout, /Gate: The plan/, 'what waited before is no news')
  })

  await t.test('--next takes no case, no answer, and needs a terminal', async (t) => {
    for (const [words, message] of [
      [['--next'], /--next asks about each plan, which needs a terminal/],
      [['--next', '--json'], /which needs a terminal/],
      [['--next', '--yes'], /cannot be used with --yes or --sha/],
      [['--next', '-m', 'x'], /--note is for one plan/],
      [['door', '--next'], /name no case/],
      [['--bell'], /--bell needs --next/],
    ] as const) {
      t.match(await cli.run('approve', ...words), { code: 2, stderr: message })
    }
  })

  await t.test('several in one act, each as it was shown', async (t) => {
    const [oak, elm] = [await plan('Oak'), await plan('Elm')]
    const several = /1 of 2[\s\S]*Elm[\s\S]*2 of 2[\s\S]*Oak[\s\S]*Approve these 2 plans\? \[y\/N\]/
    const no = await approve([[several, 'n']], 'elm', oak.case_id.slice(0, 8))
    t.match(no, { code: 6, unasked: [], stderr: /not approved; nothing was run/ })
    const changes = () => {
      const path = file(elm.case_id)
      writeFileSync(path, readFileSync(path, 'utf8').replace('echo quick', 'echo other'))
      return 'y'
    }
    t.match(await approve([[several, changes]], 'elm', 'oak', 'elm'), {
      code: 6,
      stdout: /session 1 is running/,
      stderr: new RegExp(`left out ${elm.case_id.slice(0, 8)} 1: The plan has changed`),
    })
    await reaches(service, oak, 'complete')
    t.match(await must(service, 'GET', elm.path), { state: 'plan_ready' })
    t.match(await cli.run('approve', 'oak', 'elm', '--yes'), { code: 1, stderr: /is complete/ })
    t.match(await cli.run('approve', 'oak', 'elm', '-m', 'x', '--yes'), { code: 2 })
  })

  await t.test('by a hash, only of the present text, signed by the operator', async (t) => {
    const ref = await plan('Sealed')
    const { plan_sha256 } = await must(service, 'GET', ref.path)
    t.match(await cli.run('approve', 'sealed'), { code: 2, stderr: /--yes.*--sha/ })
    const other = await cli.run('approve', 'sealed', '--sha', 'a'.repeat(64), '--json')
    t.match(other, { code: 1, json: { code: 'plan_changed' } })
    const home = join(cli.root, 'home')
    mkdirSync(join(home, '.ssh'), { recursive: true })
    const key = join(home, '.ssh/id_ed25519')
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key])
    const signed = (...args: string[]) =>
      cli.runWith({ env: { HOME: home } }, 'approve', 'sealed', ...args)
    const unknown = await signed('--yes', '--sign')
    t.match(unknown, {
      code: 1,
      stderr: /not in allowed_signers[\s\S]*add this line to allowed_sig/,
    })
    t.notMatch(readFileSync(file(ref.case_id), 'utf8'), /plan_approved/)
    const line = /\S+ namespaces="casefile" ssh-ed25519 \S+/.exec(unknown.stderr)?.[0]
    writeFileSync(join(cli.root, 'allowed_signers'), `${line}\n`)
    t.match(await signed('--key', key, '--sha', plan_sha256, '--detach'), {
      code: 0,
      stdout: /session 1 is running\. Follow it with: casefile session watch \w{8}\n/,
    })
    await reaches(service, ref, 'complete')
    const { json } = await cli.run('session', 'plan', 'sealed', '--json')
    t.match(json, { number: 1, signature: { state: 'valid' } })
    t.match((await cli.run('session', 'plan', 'sealed')).stdout, /✓ approval signed by \S+ SHA256:/)
    await newSession(service, ref.case_id).then((next) => reaches(service, next, 'plan_ready'))
    t.match(await cli.run('approve', 'sealed', '1', '--yes'), { code: 1 }, 'no other than this')
    t.match((await cli.run('session', 'plan', 'sealed', '--json')).json, {
      number: 2,
      state: 'plan_ready',
    })
    await cli.run('session', 'stop', 'sealed')
  })

  await t.test(
    'tail asks about a plan that waits, and goes on over a restart of the service',
    async (t) => {
      await plan('Bridge')
      const byKey: Answers = [[/Approve this plan of session 1\? \[y\/N\] $/, 'y']]
      const asked = await cli.runWith({ answers: byKey, env: RICH }, 'session', 'watch', 'bridge')
      t.match(asked, { code: 0, unasked: [], shown: /Plan\n[\s\S]*Session 1 is complete/ })

      const ref = await plan('Tower')
      const answers: Answers = [
        [/Approve this plan of session 1\? \[y\/N\] $/, meanwhile(service.close)],
        [/service unreachable, retrying…/, meanwhile(() => again())],
        [/the service is back/, () => null],
      ]
      const again = async () => {
        await service.close()
        const next = await cli.serve()
        await must(next, 'POST', `${ref.path}/approve`)
      }
      const said = await cli.runWith({ answers, env: RICH }, 'session', 'watch', 'tower')
      t.match(said, { code: 0, unasked: [], shown: /│ quick\n[\s\S]*Session 1 is complete/ })
      t.equal(said.shown.match(/session created/g)?.length, 1, 'nothing is told twice')
      t.match(said.stdout, /\u001b\]9;Casefile: [^:]+: Tower: Session 1 finished[^\u0007]*\u0007/)
      t.match(await cli.run('session', 'watch', 'tower'), {
        code: 0,
        stderr: /^Session 1 is complete\./,
      })
    },
  )
})

t.test('approve waits in line where the folder is not free', async (t) => {
  const cli = cliHere(t, { '.gitignore': 'go\n', 'code.txt': 'one\n' })
  const { root } = cli
  git(root, 'init', '-q')
  git(root, 'add', '.gitignore', 'code.txt')
  git(root, 'commit', '-qm', 'begin')
  mkdirSync(join(root, 'here'))
  const service = await cli.serve()
  const fields = { workdir: 'here', title: 'The first' }
  const until = (go: string) => `while [ ! -e ${go} ]; do sleep 0.1; done`
  const runbook = step(`${until('go')}; echo new > file.txt; ${until('../go')}`)
  const first = await planned(service, { runbook, fields })
  const rest = { runbook: step('true'), fields: { ...fields, title: 'The second' } }
  const second = await planned(service, rest)
  await must(service, 'POST', `${first.path}/approve`)
  await reaches(service, first, 'executing')

  t.match(await cli.run('approve', 'second', '--yes'), {
    code: 1,
    stderr: /Session 1 of “The first” works in this working folder\. [\s\S]*--queue/,
  })
  const line = /Session 1 of “The first” works in[\s\S]*Approve it to wait in line\?[\s\S]*\[y\/N\]/
  const refused = [[ASKED, 'y'] as const, [line, 'n'] as const]
  t.match(await cli.runWith({ answers: refused }, 'approve', 'second'), { code: 6, unasked: [] })
  t.match(await must(service, 'GET', second.path), { state: 'plan_ready', queue: null })

  t.match(await cli.run('approve', 'second', '--yes', '--queue', '--detach'), {
    code: 0,
    stdout:
      /session 1 waits in line, after session 1 of “The first”\. Follow it with: casefile session watch/,
  })
  t.match((await cli.run('list')).stdout, /The second\t.*session 1 waits in line/)
  t.match(await cli.run('session', 'unqueue', 'second'), {
    code: 0,
    stdout: 'session 1 is out of the line; nothing was run\n',
    stderr: /^Its plan waits: casefile approve \w{8} 1\n$/,
  })

  const takenOut: Answers = [
    [
      /waits in line, after session 1 of “The first”/,
      () => {
        void must(service, 'DELETE', `${second.path}/queue`)
        return null
      },
    ],
  ]
  const out = ['approve', 'second', '--yes', '--queue'] as const
  t.match(await cli.runWith({ answers: takenOut }, ...out), {
    code: 6,
    stderr: /nothing was run: read the plan again/,
  })

  const answers: Answers = [
    [ASKED, 'y'],
    [line, 'y'],
    [
      /waits in line, after session 1 of “The first”/,
      () => {
        for (const go of ['here/go', 'go']) writeFileSync(join(root, go), '')
        return null
      },
    ],
  ]
  const said = await cli.runWith({ answers }, 'approve', 'second')
  t.match(said, { code: 0, unasked: [] })
  t.equal((await must(service, 'GET', second.path)).state, 'complete')
  t.ok(existsSync(join(root, 'here/file.txt')))
})

t.test('an intent is started, asked about and run by one command', async (t) => {
  const cli = cliHere(t)
  const work = 'mkdir -p src; echo b > src/a; echo done'
  for (const [name, text] of Object.entries(agentFiles({ one: { plan: 'exit 1', work } })))
    writeFileSync(join(cli.root, name), text)
  writeFileSync(join(cli.root, 'package.json'), '{"scripts":{"test":"test -e src/a"}}')
  committed(cli.root)
  mkdirSync(join(cli.root, 'lib'))
  for (const name of ['a', 'b']) writeFileSync(join(cli.root, 'lib', name), '1\n')
  await cli.run('doctor', '--trust', '--yes')
  await cli.serve()
  await cli.run('new', 'Door')
  const start = (answers: Answers, ...args: string[]) =>
    cli.runWith({ answers }, 'start', 'door', '--provider', 'one', ...args)
  const intent = ['--intent', 'Make it bigger.']

  const proposed =
    /paths:\n {4}- lib\n[\s\S]*▶ {3}- npm test --silent[\s\S]*one will carry out this plan/
  const no = await start([[/Approve this plan of session 1\? \[y\/N\]/, 'n']], ...intent)
  t.match(no, { code: 6, unasked: [], shown: proposed, stderr: /not approved/ })

  const paths = ['--paths', 'src/**', '--proof', 'test -e src/a']
  const yes = await cli.run('start', 'door', '--provider', 'one', ...intent, ...paths, '--yes')
  t.match(yes, {
    code: 0,
    stdout: /▶ agent[\s\S]*✓ proof {2}exit 0/,
    stderr: /Session 2 is complete/,
  })
  t.match((await cli.run('show', 'door', '2', '--json')).json, { findings: { out_of_scope: [] } })

  t.match(await start([], ...intent, '--yes'), { code: 2, stderr: /--yes needs --paths/ })
  t.match(await start([], '--paths', 'src/**'), { code: 2, stderr: /need --intent/ })
  t.match(await start([], ...intent, '--again'), { code: 2, stderr: /leave out/ })
  t.match(await start([], ...intent, '--paths', '/etc'), {
    code: 1,
    stderr: /expected a path inside/,
  })
  t.match(await cli.run('start', 'door', ...intent, ...paths), { stderr: /Only an agent can/ })
})
