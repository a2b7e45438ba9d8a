import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { cliHere } from '../fixtures/cli-here.ts'
import { git } from '../fixtures/git-repository.ts'
import { step } from '../fixtures/session-client.ts'

t.test('with a running service', async (t) => {
  const cli = cliHere(t)
  await cli.serve()
  const made = async (title: string, ...args: string[]) =>
    String((await cli.run('new', title, '--json', ...args)).json.id)
  const file = (id: string, ...names: string[]) => join(cli.root, 'memory/cases', id, ...names)

  await t.test('a case is made with what its options say, and edited', async (t) => {
    const proved = ['--prove', 'All tests pass', '--prove', 'Looks right (screenshot, optional)']
    const id = await made('Door', '--tag', 'old', ...proved)
    t.match(
      readFileSync(file(id, 'case.md'), 'utf8'),
      /\n- \[ \] All tests pass \(test-log, required\)\n- \[ \] Looks right \(screenshot\)\n$/,
    )
    const parent = await made('House')
    const args = ['title=Red door', 'type=feature', 'tag=a,b', 'parent=house']
    t.match(await cli.run('set', 'door', ...args), {
      code: 0,
      stdout: /OPEN {2}Red door\n$/,
      stderr: `title: Door → Red door\ntype: bug → feature\ntags: old → a,b\nparent: none → ${parent}\n`,
    })
    t.match(await cli.run('set', 'red', 'title=Shut', 'state=resolved'), { code: 4, stdout: '' })
    t.match(await cli.run('set', 'red', 'provider=nope'), {
      code: 0,
      stderr:
        /before casefile\.md defines nope; providers are runbook, claude, .*\nprovider: none → nope/,
    })
    await cli.run('set', 'red', 'provider=')
    const { json } = await cli.run('show', id, '--json')
    t.match(json, { title: 'Red door', type: 'feature', tags: ['a', 'b'], parent, sessions: [] })
    t.match((await cli.run('set', 'red', 'parent=', 'tags=', '--json')).json, {
      parent: null,
      tags: [],
    })
    const input = 'It sticks.\n'
    t.match((await cli.runWith({ input }, 'set', 'red', 'description=-', '--json')).json, {
      description: 'It sticks.',
    })
    const edit = (EDITOR: string) => cli.runWith({ env: { EDITOR, VISUAL: '' } }, 'set', 'red')
    t.match(await edit('change() { echo "It creaks." > "$1"; }; change'), { code: 0 })
    t.match(await edit('true'), { stderr: /the description was not changed/ })
    const both = `both() { sed -i 's/It creaks/Theirs/' ${file(id, 'case.md')}; echo Mine > "$1"; }; both`
    t.match(await edit(both), { code: 1, stderr: /your text was saved in/ })
    t.match((await cli.run('show', id, '--json')).json, { description: 'Theirs.' })
    t.match(await cli.runWith({ env: { EDITOR: '', VISUAL: '' } }, 'set', 'red'), {
      code: 1,
      stderr: /The text is missing/,
    })
  })

  await t.test('a checklist item says what is missing', async (t) => {
    const id = await made('Gate')
    t.match(await cli.run('prove', 'require', 'gate', 'It opens'), {
      code: 0,
      stdout: /✗ It opens \(test-log\)\nProof requirements are not met/,
    })
    t.match(await cli.run('prove', 'require', 'gate', 'Looks right (screenshot, optional)'), {
      stdout: /· Looks right \(screenshot, optional\)\n/,
      stderr: '',
    })
    const seen = [
      'prove',
      'require',
      'gate',
      'Seen',
      '--type',
      'screenshot',
      '--optional',
      '--json',
    ]
    t.match((await cli.run(...seen)).json, { type: 'screenshot', required: false })
    t.match((await cli.run('prove', 'gate', 'gate')).stdout, /· Seen \(screenshot, optional\)\n/)
    t.match(readFileSync(file(id, 'case.md'), 'utf8'), '- [ ] Seen (screenshot)\n')
    t.match(await cli.run('prove', 'require', 'gate', 'Fast (bench)'), {
      code: 0,
      stderr: /bench is no usual proof type, such as test-log,/,
    })
  })

  await t.test('a new case is planned at once', async (t) => {
    const plan = ['-d', step('echo fine', 'sh run id=say'), '--plan']
    t.match(await cli.run('new', 'Roof', ...plan, '--use'), {
      code: 0,
      stdout: /^[0-9a-f-]{36} {2}Roof\n[\s\S]*echo fine/,
    })
    t.match((await cli.run('show', 'roof', '--json')).json, {
      state: 'PLANNING',
      sessions: [{ state: 'plan_ready', type: 'implementing' }],
    })
    t.match((await cli.run('agent', 'use')).stdout, /Roof/)
    const said = await cli.run('new', 'Blue door', ...plan, '--json')
    t.match(said, { code: 0, json: { state: 'plan_ready' }, stderr: /Blue door/ })
    await made('Look', '--type', 'investigation', ...plan.slice(0, 2))
    t.match((await cli.run('start', 'look', '--json')).json, { type: 'investigating' })
    await made('Empty', '--prove', ' ')
    t.strictSame((await cli.run('prove', 'empty', '--json')).json.items, [])
  })

  await t.test('a case is deleted by who says so', async (t) => {
    const id = await made('Shed')
    writeFileSync(file(id, 'notes.md'), 'Old.\n')
    for (const args of [
      ['delete', 'shed'],
      ['delete', 'shed', '--json'],
    ]) {
      t.match(await cli.run(...args), { code: 2, stderr: /needs a terminal.*--yes/ })
    }
    await made('Loft', '--parent', id)
    const answers = [
      [
        /Shed\nNot deleted: 1 sub-case \(Loft\)\.\nDelete this case with its sessions, proof and notes\? \[y\/N\]/,
        'n',
      ],
    ] as const
    t.match(await cli.runWith({ answers }, 'delete', 'shed'), {
      code: 6,
      unasked: [],
      stderr: /not deleted/,
    })
    t.ok(existsSync(file(id, 'notes.md')))
    t.match(await cli.run('delete', 'shed', '--yes'), {
      code: 0,
      stdout: /^deleted {2}\w{8} {2}Shed/,
    })
    t.notOk(existsSync(file(id)))
    t.match(await cli.run('delete', 'shed', '--yes'), { code: 3 })
    t.match(await cli.run('show', id), { code: 3 })
  })

  await t.test('a question of an agent is answered', async (t) => {
    const id = await made('Colour')
    await cli.run('set', 'colour', 'state=blocked', 'reason=Rain')
    t.match((await cli.run('set', 'colour', 'reason=')).stderr, /^reason: Rain → none$/m)
    t.match(await cli.run('set', 'colour', 'state=needs_user_input', 'reason=Red or blue?'), {
      code: 0,
    })
    t.match(await cli.run('comment', 'colour', ' '), { code: 2, stderr: /blank/ })
    const env = { VISUAL: '', EDITOR: 'write() { echo "Red." > "$1"; }; write' }
    t.match(await cli.runWith({ env: { ...env, EDITOR: 'true' } }, 'comment', 'colour'), {
      code: 1,
      stderr: /^Red or blue\?\n.*empty; nothing was sent/,
    })
    const asked = file(id, 'case.md')
    const both = `both() { sed -i 's/Red or blue/Green or blue/' ${asked}; echo Red > "$1"; }; both`
    t.match(await cli.runWith({ env: { ...env, EDITOR: both } }, 'comment', 'colour'), {
      code: 1,
      stderr: /your text was saved in/,
    })
    const said = await cli.runWith({ env }, 'comment', 'colour')
    t.match(said, { code: 0, stdout: `${id.slice(0, 8)}  BLOCKED  answered\n` })
    t.match(
      (await cli.run('show', 'colour', '--history')).stdout,
      /: asks \(BLOCKED → NEEDS_USER_INPUT\)\n +Red or blue\?\n.*: answers \(NEEDS_USER_INPUT → BLOCKED\)\n +Red\.\n/,
    )
    await cli.run('set', 'colour', 'state=needs_user_input', 'reason=Sure?')
    t.match(await cli.run('comment', 'colour', 'Hm.', '--no-answer'), { stdout: /commented/ })
    const input = 'Quite.\n'
    t.match((await cli.runWith({ input }, 'comment', 'colour', '-', '--json')).json, {
      state: 'BLOCKED',
    })
  })

  await t.test(
    'proof with failures is verified by no option, and accepted with a reason',
    async (t) => {
      const report = join(cli.root, 'report.tap')
      writeFileSync(report, 'TAP version 13\n1..2\nok 1 - out\nnot ok 2 - in\n')
      await made('Sign-in')
      t.match(await cli.run('prove', 'show', 'sign'), {
        code: 0,
        stderr: /^no proof yet\n.*\nNext: /,
      })
      const added = await cli.run('prove', 'add', 'sign', report, '--verify')
      t.match(added, {
        code: 1,
        stdout: /not verified, does not support its claim: 1 of 2 tests failed: in\n$/,
        stderr: /--accept "<reason>"[\s\S]*attached, but not verified/,
      })
      const id = added.stdout.slice(0, 8)
      t.match(await cli.run('prove', 'show', 'sign', id), {
        stdout: 'TAP version 13\n1..2\nok 1 - out\nnot ok 2 - in\n',
        stderr: / {2}failed: in/,
      })
      t.match(await cli.run('prove', 'verify', 'sign', '--all'), {
        code: 1,
        stdout: '',
        stderr: /is not verified: 1 of 2 tests failed: in/,
      })
      const summary = /only if accepted|would meet nothing/
      const no = [[/failed: in[\s\S]*will not count without --accept.*\[y\/N\]/, 'n']] as const
      const asked = await cli.runWith({ answers: no }, 'prove', 'verify', 'sign')
      t.match(asked, { code: 6, unasked: [], shown: summary, stderr: /not verified/ })
      t.match((await cli.run('prove', 'list', 'sign', '--json')).json, [{ verified: false }])
      t.match(await cli.run('prove', 'verify', 'sign', id), { code: 2, stderr: /use --yes/ })
      t.match(await cli.run('prove', 'verify', 'sign', id, '--yes'), {
        code: 0,
        stdout: /verified, does not support/,
      })
      t.match(await cli.run('prove', 'sign'), { code: 4, stdout: /1 of 2 tests failed: in/ })
      t.match(await cli.run('list'), { stdout: /doesn't count: 1 of 2 tests failed: in/ })
      t.match(await cli.run('prove', 'verify', 'sign', '--all', '--accept', 'x'), { code: 2 })
      t.match(await cli.run('prove', 'verify', 'sign', id, '--yes', '--accept', ' '), { code: 1 })
      const accept = ['--yes', '--accept', 'It is flaky.']
      const accepted = await cli.run('prove', 'verify', 'sign', id, ...accept)
      t.match(accepted, {
        code: 0,
        stdout: /verified, 1 of 2 tests passed, accepted: It is flaky\./,
      })
      t.match(await cli.run('resolve', 'sign', '--outcome', 'fixed'), { code: 0 })
      t.match(await cli.run('export'), { stdout: /"content":"TAP.*"accepted":"It is flaky\."/ })
    },
  )

  await t.test('after verifying stands what is missing, and of several one is named', async (t) => {
    await made('Fence')
    await cli.run('prove', 'require', 'fence', 'Fast', '--type', 'benchmark')
    const add = (type: string) => cli.run('prove', 'add', 'fence', '--text', type, '--type', type)
    t.match((await add('log')).stdout, /^\S+ {2}log of no session, not verified\n$/)
    t.match(await cli.run('prove', 'verify', 'fence', '--yes'), {
      code: 0,
      stderr:
        /^Proof is missing\. No candidate would meet "Fast"\. Attach a proof of type benchmark, or accept a proof with a reason\.\nNext: casefile prove add [0-9a-f]{8} <file> --type benchmark\n$/,
    })
    await add('benchmark')
    await add('trace')
    t.match(await cli.run('prove', 'verify', 'fence'), {
      code: 2,
      stderr:
        /several proofs that are not verified: [0-9a-f]{8} \(trace\), [0-9a-f]{8} \(benchmark\)\. .*--all/,
    })
    t.match(await cli.run('prove', 'show', 'fence'), { stdout: 'log\n\nbenchmark\n\ntrace\n' })
    t.match((await cli.run('prove', 'show', 'fence', '--json')).json, [{ content: /^log/ }, {}, {}])
    t.match(
      (await cli.run('prove', 'fence')).stderr,
      /would meet "Fast"\.\nNext: casefile prove verify/,
    )
    t.match(await cli.run('prove', 'verify', 'fence', '--all', '--yes'), {
      stdout: /^(?:\S+ {2}verified\n){2}$/,
      stderr:
        /^Proof requirements are met\. The case can be resolved\.\nNext: casefile resolve [0-9a-f]{8}\n$/,
    })
    const yes = [[/would meet: Fast[\s\S]*Verify it\? \[y\/N\]/, 'y']] as const
    await made('Wall')
    await cli.run('prove', 'require', 'wall', 'Fast', '--type', 'benchmark')
    await cli.run('prove', 'add', 'wall', '--text', 'quick', '--type', 'benchmark')
    const asked = await cli.runWith({ answers: yes }, 'prove', 'verify', 'wall')
    t.match(asked, { code: 0, unasked: [], shown: /│ quick\n/ })
  })

  await t.test('a resolved case is committed, and says what changes', async (t) => {
    git(cli.root, 'init', '--quiet')
    const id = await made('Hedge')
    await cli.run('prove', 'add', 'hedge', '--text', 'ok', '--type', 'note', '--verify')
    const resolve = (outcome: string) => cli.run('resolve', 'hedge', '--outcome', outcome)
    t.match(await resolve('ConfirmedCodeBug'), {
      code: 0,
      stdout: /RESOLVED/,
      stderr: `outcome: none → ConfirmedCodeBug\nThe record is not committed yet. First git add what belongs to the fix: casefile.md, report.tap\nNext: git add memory/cases/${id} && git commit -m "Resolve case ${id.slice(0, 8)}"\n`,
    })
    t.match((await resolve('ConfirmedCodeBug')).stderr, /^nothing changed\n/)
    t.match((await resolve('Duplicate')).stderr, /^outcome: ConfirmedCodeBug → Duplicate\n/)
    t.match((await resolve('wont-fix')).stdout, /WONT_FIX/)
    for (const filter of ['state', 'outcome'])
      t.match(await cli.run('list', `--${filter}`, 'wont-fix'), { stdout: /\tHedge\t/ })
    t.match((await resolve('fixed')).stdout, /RESOLVED/)
    t.match(
      await cli.runWith(
        {
          answers: [
            [/How does/, ''],
            [/How does/, '4'],
          ],
        },
        'resolve',
        'hedge',
      ),
      {
        code: 0,
        unasked: [],
        shown: /2 {2}Won’t fix[\s\S]*NON_ISSUE/,
      },
    )
    t.match(await cli.run('show', 'hedge'), { stdout: /IntendedBehavior/ })
    await resolve('Duplicate')
    git(cli.root, 'init', '--quiet', 'memory')
    t.match(
      (await resolve('Duplicate')).stderr,
      `git -C memory add cases/${id} && git -C memory commit`,
    )
    t.match(await resolve('fxied'), {
      code: 2,
      stderr: /no outcome "fxied"\. Did you mean fixed\?/,
    })
    t.match(await cli.run('start', 'hedge'), { stderr: /stays RESOLVED; to reopen it: .*=open\n/ })
    t.match(await cli.run('set', 'hedge', 'state=open', 'reason=x', 'title=Hedges'), {
      stdout: /OPEN {2}Hedges\n/,
      stderr: 'title: Hedge → Hedges\nreason: none → x\n',
    })
  })

  await t.test('webhooks are managed', async (t) => {
    let status = 204
    const receiver = createServer((_, response) => response.writeHead(status).end())
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
    t.teardown(() => receiver.close())
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
    const webhook = (...args: string[]) => cli.run('webhook', ...args)
    const added = await webhook('add', url, '--json')
    t.match(added, { code: 0, json: { url, events: ['*'], active: true, secret: String } })
    const name = added.json.id.slice(0, 8)
    t.match(await webhook('list'), { stdout: new RegExp(`^${name} {2}active {2}`) })
    t.match(await webhook('test', name), { code: 0, stdout: /^delivered: status 204/ })
    status = 500
    t.match(await webhook('test', name), { code: 1, stdout: /^not delivered: status 500/ })
    t.match(await webhook('deliveries', name), { code: 0 })
    t.match(await webhook('edit', name, '--pause', '--event', 'case_created'), {
      stdout: /events +case_created\nstatus +paused/,
    })
    t.match(await webhook('edit', name, '--url', `${url}x`), {
      stdout: /x\nevents +case_created\nstatus +paused/,
    })
    t.match(await webhook('edit', name, '--resume', '--event', '*'), {
      stdout: /events +\*\nstatus +active/,
    })
    t.notMatch((await webhook('show', name, '--json')).json, { secret: String })
    const paused = await webhook('add', url, '--pause', '--event', 'case_created,case_updated')
    t.match(paused, {
      stdout: /events +case_created, case_updated\nstatus +paused\nsecret +\S/,
      stderr: /Keep the secret/,
    })
    t.match(await webhook('show', ''), { code: 3, stderr: /Several webhooks match/ })
    const input = 'a secret\n'
    const ofCase = ['--case', 'gate', '--secret', '-', '--json']
    const own = await cli.runWith({ input }, 'webhook', 'add', url, ...ofCase)
    t.notMatch(own.json, { secret: String }, 'a secret that was given is not shown')
    t.match((await webhook('list', '--case', 'gate', '--json')).json, [{ url }])
    t.equal((await webhook('list', '--json')).json.length, 2)
    t.match(await webhook('remove', own.json.id), { code: 3 }, 'of a case only with --case')
    t.match(await webhook('remove', own.json.id, '--case', 'gate'), { stdout: /^removed/ })
    for (const { id } of (await webhook('list', '--json')).json) await webhook('remove', id)
    t.match(await webhook('list'), { stdout: '', stderr: /casefile webhook add/ })
    t.match(await webhook('show', name), { code: 3, stderr: /There is none/ })
  })

  await t.test('a report is written to a file, or shown', async (t) => {
    await made('Bell', '-d', 'a\x1b]0;b\x07\u202e 10\u00a0000')
    t.match((await cli.run('export', 'bell', '--md')).stdout, '10\u00a0000')
    t.match((await cli.run('export', 'bell', '--html')).stdout, /^<!doctype html/i)
    const shown = (await cli.runWith({ answers: [] }, 'export', 'bell', '--md')).stdout
    t.match(shown, 'a␛]0;b␇[U+202E] 10\\u{a0}000')
    for (const [name, text] of [
      ['a.MD', /^# /m],
      ['a.html', /^<!doctype html/i],
    ] as const) {
      const path = join(cli.root, name)
      t.match(await cli.run('export', 'bell', '-o', path), { code: 0, stdout: '' })
      t.match(readFileSync(path, 'utf8'), text)
    }
    t.match(await cli.run('export', 'bell', '--md', '--html'), { code: 2 })
  })

  await t.test(
    'a name that fits several cases lists them, one that fits none says where to look',
    async (t) => {
      t.match(await cli.run('show', 'door'), {
        code: 3,
        stderr: /"door" matches 2 cases[\s\S]*\n {2}\w{8} {2}\w+ +(?:Red|Blue) door\n/,
      })
      const { code, json } = await cli.run('show', 'door', '--json')
      t.match({ code, json }, { code: 3, json: { status: 404, candidates: [Object, Object] } })
      t.match(await cli.run('prove', 'purple'), { code: 3, stderr: /casefile list --all/ })
      t.match(await cli.run('prove', 'c12d54ae-1933-4631-a05f-aecf75428827'), { code: 3 })
      t.match(await cli.run('prove', 'verify', 'hedge', 'zz'), {
        code: 3,
        stderr: /no proof "zz"\. It has: \w{8}\./,
      })
      t.match(await cli.run('prove', 'verify', 'house', 'zz'), { code: 3, stderr: /prove add/ })
    },
  )

  await t.test('what is wrong is told, with a code for it', async (t) => {
    const wrong: [args: string[], code: number, stderr: RegExp][] = [
      [['list', '--wrong'], 2, /unknown option '--wrong'/],
      [['start'], 2, /missing required argument 'case'/],
      [['prove', 'verify', 'gate', 'a', '--all'], 2, /--all/],
      [['prove', 'add', 'house'], 2, /--artifact/],
      [['prove', 'add', 'house', 'a', '--text', 'b'], 2, /--artifact/],
      [
        ['prove', 'add', 'house', 'gone.txt'],
        1,
        /gone\.txt cannot be attached: the file does not.*proves the point\.\n$/,
      ],
      [['set', 'house', 'colour=red'], 2, /no field "colour"\. Fields: title, type/],
      [['set', 'house', 'red'], 2, /Expected field=value/],
      [['resolve', 'house'], 2, /use --outcome with fixed, wont-fix, .*ConfirmedCodeBug/],
      [['export', 'house', '-o', 'gone/x.html'], 2, /The folder gone does not exist/],
      [['list', '--needs', 'love'], 1, /needs: expected any, or some of plan/],
      [['list', '--limit', '0'], 2, /whole number from 1/],
      [['set', 'house', 'state=shut'], 1, /state: got "SHUT", expected one of OPEN/],
      [['new', ''], 1, /title: expected a text, not only white space/],
      [['set', 'house', 'title='], 1, /title/],
      [['list', '--root', 'gone'], 1, /is not a folder/],
      [['list', '--root', ''], 2, /Expected a folder/],
      [['session', 'apply', 'roof', '--yes'], 1, /has no worktree/],
    ]
    for (const [args, code, stderr] of wrong) {
      const { json, ...said } = await cli.run(...args, '--json')
      const expected = { code, stderr, json: { status: Number, detail: String } }
      t.match({ ...said, json }, expected, args.join(' '))
    }
    t.match(await cli.run('show', '--', '--json'), { code: 3, stdout: '' })
    t.match(await cli.run('new', '--', '--json'), { code: 0, stdout: / {2}--json\n$/ })
  })
})

t.test('the list', async (t) => {
  const cases = Array.from({ length: 33 }, (_, n) => [
    `00000000-0000-4000-8000-0000000000${n + 10}`,
    { 'case.md': `# Door ${n}\n` },
  ])
  const cli = cliHere(t, { memory: { cases: Object.fromEntries(cases) } })
  await cli.serve()
  const { stdout } = await cli.run('list')
  const lines = stdout.trimEnd().split('\n')
  t.equal(lines.length, 33, 'it is whole when piped, with tabs')
  for (const line of lines) t.equal(line.split('\t').length, 8)
  t.match(await cli.run('list', '--limit', '33'), { stderr: '' })
  const two = await cli.run('list', '--limit', '2')
  t.equal(two.stdout.split('\n').length, 3)
  t.match(two.stderr, 'Showing 2 of 33.')
  const onTerminal = await cli.runWith({ answers: [], columns: 120 }, 'list')
  t.match(onTerminal.stdout, /^CASE +STATUS +TITLE .*\n[0-9a-f]{8} {2}Open +Door \d+/)
  t.match(onTerminal.stderr, 'Showing 30 of 33. Show all with --all, or more with --limit.')
  t.equal((await cli.runWith({ answers: [] }, 'list', '--all')).stdout.split('\n').length, 35)
})

t.test('a workspace is found', async (t) => {
  const cli = cliHere(t, { src: { deep: {} }, elsewhere: { memory: { cases: {} } } })
  const below = join(cli.root, 'src', 'deep')
  t.match(await cli.runWith({ cwd: below }, 'list'), {
    code: 0,
    stderr: /no cases yet\nNext: casefile new/,
  })
  const elsewhere = join(cli.root, 'elsewhere')
  await cli.runWith({ cwd: elsewhere }, 'new', 'There')
  t.match(await cli.run('list', '--root', elsewhere), { stdout: /There/ })
  t.match(await cli.run('list'), { stdout: '' })
  const cwd = join(cli.root, '..')
  const before = readdirSync(cwd, { recursive: true })
  for (const args of [['list'], ['new', 'x'], ['list', '--root', cwd]]) {
    const said = await cli.runWith({ cwd }, ...args)
    t.match(said, { code: 1, stdout: '', stderr: /casefile\.md.*casefile init/ })
  }
  t.strictSame(readdirSync(cwd, { recursive: true }), before, 'nothing is made')
})

t.test('what only reads writes nothing, and owns nothing', async (t) => {
  const cli = cliHere(t, {})
  const runbook = step('echo fine', 'sh run id=say')
  await cli.run('new', 'Door', '-d', runbook)
  await cli.run('start', 'door')
  t.match(await cli.run('start', 'door', '--detach'), { code: 2, stderr: /running service/ })
  t.match(await cli.run('open', 'door', '--print'), { code: 1, stderr: /casefile serve/ })
  const url = 'http://127.0.0.1:9999/hook'
  const name = (await cli.run('webhook', 'add', url, '--json')).json.id.slice(0, 8)
  const state = () =>
    readdirSync(cli.env.CASEFILE_STATE_DIR, { recursive: true }).map(String).sort()
  const before = state()
  const fresh = join(cli.root, 'fresh')
  const env = { CASEFILE_STATE_DIR: fresh }
  for (const args of [
    ['search', 'door'],
    ['session', 'plan', 'door'],
    ['session', 'plan', 'door', '--diff'],
    ['open', 'door', '--folder'],
    ['show', 'door', '--history'],
    ['export'],
    ['webhook', 'list'],
  ]) {
    t.match(await cli.runWith({ env }, ...args), { code: 0 }, args.join(' '))
    t.notOk(existsSync(fresh), `${args.join(' ')} makes no state folder`)
  }
  const shown = { code: 0, stdout: /^url +http:\/\/127\.0\.0\.1:9999\/hook$/m }
  t.match(await cli.run('webhook', 'show', name), shown)
  t.match(await cli.run('webhook', 'deliveries', name), { code: 0, stderr: /nothing was sent yet/ })
  t.match(await cli.run('search', 'fine'), { stdout: /Door\n {2}memory\/cases\/.*fine/ })
  t.match(await cli.run('search', 'fine', '--limit', '0'), { code: 1 })
  t.match(await cli.run('search', 'nowhere'), { code: 0, stdout: '', stderr: /no matches/ })
  t.strictSame(state(), before)
})
