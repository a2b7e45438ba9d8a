import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { planView } from '../../src/cli/output/plan-view.ts'
import { uncommittedText } from '../../src/cli/output/uncommitted-text.ts'
import type { CommentJson } from '../../src/http/schemas/comment.ts'
import { useParser } from '../../src/markdown/parser-pool.ts'
import { DEFAULT_SETTINGS } from '../../src/model/settings.ts'
import { cliHere } from '../fixtures/cli-here.ts'
import { kept } from '../fixtures/kept-terminal.ts'
import { step } from '../fixtures/session-client.ts'

t.after(useParser())

async function openPlanned(t: Test) {
  const cli = cliHere(t)
  await cli.serve()
  const book = step('echo fine', 'sh run id=say')
  const { json } = await cli.run('new', 'Red door', '-d', book, '--json')
  await cli.run('start', 'red')
  const record = () =>
    readFileSync(join(cli.root, 'memory/cases', json.id, 'sessions/1.md'), 'utf8')
  const plan = String((await cli.run('session', 'plan', 'red', '--json')).json.plan)
  const line = plan.split('\n').indexOf('echo fine') + 1
  return { cli, id: String(json.id), record, line: String(line), lineNumber: line }
}

t.test('comments from the terminal', async (t) => {
  const { cli, id, record, line, lineNumber } = await openPlanned(t)

  await t.test('on a line, a range, a step and the plan', async (t) => {
    const one = await cli.run(
      'session',
      'comment',
      'red',
      '--line',
      line,
      '-m',
      'Say more.',
      '--json',
    )
    t.match(one, { code: 0, json: { line: lineNumber, quote: 'echo fine', status: 'draft' } })
    const range = await cli.run(
      'session',
      'comment',
      'red',
      '1',
      '--line',
      `1-${line}`,
      '-m',
      'All',
      '--json',
    )
    t.match(range.json, { line: 1, end_line: lineNumber })
    const first = await cli.run('session', 'comment', '-m', 'Shorter.', 'red', '--step', 'say')
    t.match(first, { code: 0, stdout: /draft .* On lines \d+-\d+ \(step say\)[\s\S]*Shorter\./ })
    t.match(first.stderr, /Next: casefile revise \w+ 1 sends 3 comments to the agent/)
    const input = 'From a pipe.\n'
    t.match(await cli.runWith({ input }, 'session', 'comment', 'red', '-m', '-', '--json'), {
      json: { line: null, text: 'From a pipe.' },
    })
  })

  await t.test('on the case, in its history', async (t) => {
    const said = await cli.run('comment', 'red', 'It', 'began on Friday.')
    t.match(said, { code: 0, stdout: /commented\n {4}It began on Friday\.\n$/ })
    const piped = await cli.runWith({ input: 'One.\nTwo.\n' }, 'comment', 'red', '-', '--json')
    t.match(piped.json, { act: { name: 'commented' }, text: 'One.\nTwo.' })
    t.match(await cli.run('show', 'red', '--history'), {
      stdout: /commented\n {4}One\.\n {4}Two\.\n/,
    })
    t.match(await cli.run('comment', 'red', ' '), { code: 2, stderr: /The text is blank/ })
    t.match(await cli.run('comment', 'red', 'x', '-m', 'y'), { code: 2, stderr: /text once/ })
  })

  await t.test('with the editor, which shows the lines', async (t) => {
    const editor = `write() { grep -q '^# echo fine$' "$1" && echo "Why?" > "$1"; }; write`
    const env = { EDITOR: editor, VISUAL: '' }
    t.match(await cli.runWith({ env }, 'session', 'comment', 'red', '--line', line, '--json'), {
      code: 0,
      json: { text: 'Why?' },
    })
    const saved = await cli.runWith(
      { env: { ...env, EDITOR: 'true' } },
      'session',
      'comment',
      'red',
    )
    t.match(saved, { code: 1, stderr: /the text is empty; nothing was sent/ })
    const none = { env: { EDITOR: '', VISUAL: '' } }
    t.match(await cli.runWith(none, 'session', 'comment', 'red'), {
      code: 1,
      stderr: /the editor \(vi\) needs a terminal/,
    })
    const { json } = await cli.run('session', 'comment', 'red', '--list', '--json')
    t.equal(json.length, 5, 'an empty text adds nothing')
  })

  await t.test('completion knows the forms of the command', async (t) => {
    const { json } = await cli.run('session', 'comment', 'red', '--list', '--json')
    const offered = async (...words: string[]) =>
      (await cli.run('__complete', ...words)).stdout.split('\n').map((line) => line.split('\t')[0]!)
    t.match(await offered('session', 'com'), ['comment'])
    t.match(await offered('session', 'comment', 'red'), ['red door'])
    t.match(await offered('session', 'comment', 'red', '--li'), ['--line', '--list'])
    const ids = json.map(({ id }: CommentJson) => id)
    t.strictSame((await offered('session', 'comment', 'red', '--resolve', '')).slice(0, -1), ids)
  })

  await t.test('what is wrong is an error that says what to do', async (t) => {
    const wrong: [args: string[], code: number, says: RegExp][] = [
      [['red', '--line', 'x', '-m', 'x'], 2, /Expected a line such as 12, or 12-14/],
      [['red', '--line', '900', '-m', 'x'], 1, /plan of session 1 has \d+ lines:\n {3}1 {2}/],
      [['red', '--line', '1', '--step', 'say', '-m', 'x'], 2, /Choose one of/],
      [['red', '--old', '-m', 'x'], 2, /--old needs --file/],
      [['red', '--list', '--reply', 'a'], 2, /Choose one of --list, --reply/],
      [['red', '--file', 'a.ts', '-m', 'x'], 2, /such as src\/a\.ts:40/],
      [['red', '--file', 'a.ts:4', '-m', 'x'], 1, /no patch/],
      [['red', '--step', 'none', '-m', 'x'], 1, /no step "none"; its steps are say/],
      [['red', '-m', ' '], 2, /The text is blank/],
      [['red', '--resolve', 'ffffffffff'], 3, /no comment "ffffffffff".*--list/],
      [['red', '--reopen', ''], 3, /"" matches several comments: \w{8}, .*Give more of the id/],
      [['nothing', '-m', 'x'], 3, /No case matches/],
      [['red', '--line', '0', '-m', 'x'], 2, /Expected a line/],
    ]
    for (const [args, code, says] of wrong) {
      t.match(await cli.run('session', 'comment', ...args), { code, stderr: says }, args.join(' '))
    }
  })

  await t.test('a draft is edited and deleted; the plan shows the others', async (t) => {
    const { json: all } = await cli.run('session', 'comment', 'red', '--list', '--json')
    const [one, range, ...rest] = all as CommentJson[]
    const edited = await cli.run(
      'session',
      'comment',
      'red',
      '--edit',
      one!.id.slice(0, 6),
      '-m',
      'Say less.',
    )
    t.match(edited, { code: 0, stdout: /Say less\./ })
    t.match(await cli.run('session', 'comment', 'red', '--delete', range!.id), {
      code: 0,
      stdout: `deleted  ${range!.id}\n`,
    })
    for (const { id } of rest) await cli.run('session', 'comment', 'red', '--delete', id)
    const shown = await cli.run('session', 'plan', 'red')
    t.match(shown.stdout, /^▶ echo fine\n {4}│ [0-9a-f]{8} {2}draft {2}.+\n {4}│ Say less\.\n/m)
    t.match(
      shown.stderr,
      /Or: casefile revise \w+ 1, or casefile session comment, plan --edit, stop/,
    )
    t.match((await cli.run('show', 'red')).stdout, /1 comment \(1 draft\)/)
    t.match((await cli.run('show', 'red', '1')).stdout, /^Comments {2}1 comment \(1 draft\)/m)
  })

  await t.test('revise sends them with a note, or without', async (t) => {
    const sent = await cli.run('revise', 'red', '-m', 'Again.')
    t.match(sent, { code: 0, stderr: /^sent your note and 1 comment$[\s\S]*does not read notes/m })
    t.match(
      record(),
      / plan_sent_back comments=1 comments_text="On line 4 .* reason=Again\. state=planning\n/,
    )
    const none = await cli.run('revise', 'red')
    t.match(none, {
      code: 2,
      stderr: /no comments to send.*-m "…".*casefile session comment \w+ 1 --line 1 -m "…"/,
    })
    await cli.run('session', 'comment', 'red', '-m', 'Once more.')
    t.match(await cli.run('revise', 'red'), { code: 0, stderr: /^sent 1 comment$/m })
  })

  await t.test('sent comments are answered, resolved and opened again', async (t) => {
    const { json } = await cli.run('session', 'comment', 'red', '1', '--list', '--json')
    const { id } = json[0]
    t.match(await cli.run('session', 'comment', 'red', '--delete', id), {
      code: 1,
      stderr: /Resolve it instead/,
    })
    t.match(await cli.run('session', 'comment', 'red', '--edit', id, '-m', 'x'), {
      stderr: /Reply to it/,
    })
    const replied = await cli.run('session', 'comment', 'red', '--reply', id, '-m', 'Keep it.')
    t.match(replied, { code: 0, stdout: /replied:\n {4}Keep it\./ })
    t.match(await cli.run('session', 'comment', 'red', '--resolve', id), { stdout: / resolved / })
    t.match(record(), new RegExp(`- \\[x\\] ${id}`))
    t.match(await cli.run('session', 'comment', 'red', '--reopen', id, '--json'), {
      json: { resolved: false },
    })
  })

  await t.test('approve sends a note and comments', async (t) => {
    await cli.run('session', 'comment', 'red', '-m', 'Mind the step.')
    const done = await cli.run('approve', 'red', '--yes', '-m', 'Careful.')
    t.match(done, { code: 0, stderr: /^sent your note and 1 comment$/m })
    t.match(
      record(),
      / plan_approved .* note=Careful\. comments=1 comments_text=".*Mind the step\./,
    )
    t.match(
      (await cli.run('session', 'watch', 'red', '1')).stdout,
      /comment added to line \d+ of the plan/,
    )
  })

  await t.test('of a diff, and the next session gets them', async (t) => {
    const said = await cli.run('session', 'comment', 'red', '1', '-m', 'One more.')
    t.match(said.stderr, /Next: casefile start \w{8} --again 1 plans again with 1 comment/)
    t.match((await cli.run('start', 'red', '--again', '--json')).json, { number: 2 })
    await cli.run('session', 'comment', 'red', '-m', 'The newest.')
    const { stdout } = await cli.run('session', 'comment', 'red', '--list')
    t.match(stdout, /^Session 1\n\n[\s\S]*One more\.\n\nSession 2\n\n[\s\S]*The newest\.\n$/)
    t.notMatch((await cli.run('session', 'comment', 'red', '2', '--list')).stdout, 'One more.')
  })

  await t.test('check reports a line that is almost a comment', async (t) => {
    const { json } = await cli.run('session', 'comment', 'red', '--list', '--json')
    const path = join(cli.root, 'memory/cases', id, 'sessions/1.md')
    const last = json.findLast(({ text }: CommentJson) => text === 'One more.').id
    writeFileSync(path, record().replace(`- [ ] ${last}`, `- [ ] ${last}0`))
    t.match(await cli.run('doctor', '--check'), {
      code: 1,
      stdout: /1\.md:\d+: bad_comment: .*8 hex digits/,
    })
  })
})

t.test('a comment shows hidden characters as escapes', async (t) => {
  const comment: CommentJson = {
    id: '3f2a9c1d',
    session_id: 'x',
    on: 'plan',
    sha256: '1a2b3c4d5e6f',
    file: null,
    side: null,
    line: 1,
    end_line: null,
    step: null,
    quote: 'Look.',
    author: 'A\u202eda',
    text: 'One\u001b[2J\ttwo',
    created_at: '2026-11-26T18:00:00.000Z',
    sent: true,
    resolved: false,
    status: 'open',
    present_line: 1,
    near_line: null,
    replies: [{ author: 'claude', text: '\u200bhidden', created_at: '2026-11-26T18:00:00.000Z' }],
  }
  const terminal = { ...kept(0), width: () => Number.POSITIVE_INFINITY }
  const session = { plan: 'Look.\nRest.\n', provider: 'runbook', state: 'complete' } as const
  const settings = {
    ...DEFAULT_SETTINGS,
    trust: 'trusted' as const,
    file: DEFAULT_SETTINGS,
    removed: [],
    folders: new Set<string>(),
    files: new Map(),
  }
  const view = (comments: CommentJson[]) =>
    planView({ ...session, origin: 'service' }, settings, terminal, { comments })
  t.match(
    await view([comment]),
    /^ {2}Look\.\n {4}│ 3f2a9c1d {2}open {2}A\\u\{202e\}da\n {4}│ One\\u\{1b\}\[2J {4}two\n {4}│ claude replied:\n {4}│ {3}\\u\{200b\}hidden\n {2}Rest\.\n/,
  )
  const gone = await view([{ ...comment, present_line: null, status: 'addressed' }])
  t.match(
    gone,
    /^Not placed, because their lines are gone:\n {4}│ 3f2a9c1d {2}addressed .* On line 1 of an earlier plan, changed since\n {4}│ > Look\.\n/,
  )
  const near = { present_line: null, near_line: 1, step: 'fix', status: 'addressed' } as const
  t.match(
    await view([{ ...comment, ...near }]),
    /^ {2}Look\.\n {4}│ .* On line 1 of an earlier plan \(step fix\), changed since\n/,
  )
  const resolved = await view([{ ...comment, resolved: true, status: 'resolved' }])
  t.match(resolved, /│ 3f2a9c1d {2}resolved .*\n {2}Rest\./)
})

t.test('what is not committed is one line before an approval', (t) => {
  const left = {
    case_id: 'a',
    session_id: 's',
    number: 2,
    title: 'Red door',
    state: 'failed',
  } as const
  const change = (file: string, left_by: typeof left | null = null) =>
    ({ file, kind: 'modified', left_by }) as const
  const text = (
    changes: ReturnType<typeof change>[],
    is_cut = false,
    caseId = 'a',
    isApart = false,
  ) => uncommittedText({ changes, is_cut, branch: 'main', head: 'a'.repeat(40) }, caseId, isApart)
  t.equal(text([]), null)
  t.equal(
    text([change('a.ts')]),
    '1 file in the working folder (branch main at aaaaaaaa) is not committed: a.ts.',
  )
  t.equal(
    text([change('a.ts', left), change('b.ts', left), change('c'), change('d')]),
    '4 files in the working folder (branch main at aaaaaaaa) are not committed: a.ts, b.ts, c and 1 more; session 2 (failed) left 2; 2 changed by you or another program.',
  )
  t.match(
    text([change('a\u001b', left)], true, 'b'),
    /more than 1 files.*a\\u\{1b\}.*2 of “Red door”/,
  )
  t.match(text([change('a.ts')], false, 'a', true), /it will not have these changes\.$/)
  t.end()
})
