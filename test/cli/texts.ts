import t from 'tap'
import { listText } from '../../src/cli/commands/list.ts'
import { eventPrinter } from '../../src/cli/follow/event-printer.ts'
import { progressLine } from '../../src/cli/follow/progress-line.ts'
import { printOutput, stepOutput } from '../../src/cli/follow/step-output.ts'
import { jsonText } from '../../src/cli/output/json.ts'
import { printRefused } from '../../src/cli/output/refused-actions.ts'
import { table } from '../../src/cli/output/table.ts'
import { ago } from '../../src/cli/output/times.ts'
import { wrapped } from '../../src/cli/output/wrapped.ts'
import { duration, elapsed } from '../../src/model/amounts.ts'
import { findCasesByName } from '../../src/model/case-names.ts'
import { eventLine } from '../../src/model/event-lookup.ts'
import type { TriageRow } from '../../src/model/triage-row.ts'
import { kept } from '../fixtures/kept-terminal.ts'

t.test('a case is named by', async (t) => {
  const cases = [
    { id: 'c12d54ae-1933-4631-a05f-aecf75428827', title: 'Sign-in fails', state: 'OPEN' },
    { id: 'c1ffffff-1933-4631-a05f-aecf75428827', title: 'Sign-in', state: 'OPEN' },
    { id: 'addaddad-1933-4631-a05f-aecf75428827', title: 'Über C12', state: 'OPEN' },
  ]
  const names: [how: string, word: string, fitting: number[]][] = [
    ['the beginning of its id', 'c12d', [0]],
    ['the beginning of its id in capitals', 'C12D', [0]],
    ['a part of its title', 'FAILS', [0]],
    ['a part of its title beyond ASCII', 'über', [2]],
    ['its exact title, before parts of others', 'sign-in', [1]],
    ['what fits several: all of them', 'c1', [0, 1, 2]],
    ['what fits none', 'nothing', []],
    ['nothing', '  ', []],
  ]
  for (const [how, word, fitting] of names) {
    t.test(how, async (t) => {
      t.strictSame(
        findCasesByName(cases, word),
        cases.filter((_, index) => fitting.includes(index)),
      )
    })
  }
})

t.test('a table is aligned as a screen shows it', async (t) => {
  const rows = [
    [{ text: '日本語' }, { text: 'x' }],
    [{ text: '👩‍👩‍👧 é' }, { text: 'y' }],
    [{ text: 'plain ascii text' }, { text: 'z' }],
  ]
  t.equal(
    table(rows),
    ['日本語            x', '👩‍👩‍👧 é              y', 'plain ascii text  z', ''].join('\n'),
  )
  t.equal(
    table(rows, { width: 15 }),
    ['日本語        x', '👩‍👩‍👧 é          y', 'plain ascii…  z', ''].join('\n'),
  )
  t.equal(table([]), '')
})

t.test('cases in a narrow terminal', async (t) => {
  const long = 'The report of the month has the wrong totals for some'
  const rows = [
    {
      title: long,
      state: 'PLANNING',
      needs: { kind: 'plan', text: 'the plan of session 1 waits' },
    },
    { title: 'Short', state: 'BLOCKED', needs: { kind: 'blocked', text: 'no rain' } },
  ].map((row) => ({ id: 'c12d54ae-1933', outcome: null, updated_at: '', ...row }))
  const shown = (width: number) =>
    listText(rows as never as TriageRow[], { ...kept(0), width: () => width })
  t.test('give the title a third of it at least, and the reason gives way', async (t) => {
    t.equal(
      shown(80),
      [
        'CASE      STATUS     TITLE                                      NEEDS',
        'c12d54ae  Needs you  The report of the month has the wrong to…  Plan',
        'c12d54ae  Blocked    Short                                      no rain\n',
      ].join('\n'),
    )
  })
  t.test('are shown whole where there is room', async (t) => {
    t.match(shown(160), `${long}  the plan of session 1 waits  PLANNING\n`)
  })
  t.test('fit even a very narrow one', async (t) => {
    for (const line of shown(60).trimEnd().split('\n')) t.ok(line.length <= 60, line)
  })
})

t.test('lines are broken between words, and keep their indent', async (t) => {
  const text = 'Short.\n  some words that are long\n a very/long/word'
  t.equal(wrapped(text, 12), 'Short.\n  some words\n  that are\n  long\n a\n very/long/w\n ord')
  t.equal(wrapped('\x1b[1m日本語\x1b[22mab', 5, '> '), '\x1b[1m日\n> 本\n> 語\x1b[22ma\n> b')
})

t.test('times are told as people say them', async (t) => {
  const now = Date.parse('2026-11-22T12:00:00Z')
  t.equal(ago('2026-11-22T11:59:30Z', now), 'just now')
  t.equal(ago('2026-11-22T11:57:00Z', now), '3 min ago')
  t.equal(ago('2026-11-20T11:57:00Z', now), '2 d ago')
  t.equal(ago('2026-11-22T12:00:05Z', now), 'just now', 'by a clock that is ahead')
  t.strictSame([400, 12_000, 187_000, 3_723_000].map(duration), [
    '0.4 s',
    '12 s',
    '3:07 min',
    '1:02:03 h',
  ])
  t.equal(elapsed(187_000), '3:07')
})

t.test('what others wrote cannot act on the terminal', async (t) => {
  t.test('in the output of steps, whole or in pieces', async (t) => {
    const hostile = '\u001b]0;title\u0007\u001b[2J\u001b[31mred\u001b[0m\u009b5A\u202eabc\n'
    for (const level of [0, 1] as const) {
      const whole = kept(level)
      printOutput(whole, hostile)
      const pieces = kept(level)
      const output = stepOutput(pieces)
      for (const character of hostile) output.take('a', character)
      output.finish('a')
      for (const text of [whole.text(), pieces.text()]) {
        t.match(text, /red/)
        t.notMatch(text.replace(/\u001b\[[\d;]*m/g, ''), /[\u001b\u0007\u009b\u202e]/)
        if (level === 0) t.notMatch(text, /\u001b/)
      }
    }
  })
  t.test('in an event', async (t) => {
    const payload = { tool: 'x\u001b[2J', title: 'a\nb' }
    const reported = eventLine('tool_call', payload)
    t.equal(reported?.text, String.raw`x\u{1b}[2J a b`)
  })
  t.test('of an agent, whose own run is no step of the plan', async (t) => {
    const terminal = kept(0)
    const printer = eventPrinter(terminal, progressLine(terminal))
    printer.expect(2)
    const events: [type: string, payload: object][] = [
      ['step_started', { step: 'agent' }],
      ['denied', { mode: 'work', tool: 'Bash', title: 'touch\u001b x', reason: 'no' }],
      ['step_finished', { step: 'agent', exit: 0, duration_ms: 5, tail: 'It is done.\n' }],
      ['step_started', { step: 'one', language: 'sh' }],
      ['session_output', { step: 'one', text: 'fine\n' }],
      ['step_finished', { step: 'one', exit: 0, duration_ms: 5, tail: 'fine\n' }],
      ['step_started', { step: 'two', language: 'sh' }],
    ]
    for (const [type, payload] of events) {
      printer.print({ type, id: '', time: '', payload: { ...payload } })
    }
    const text = terminal.text()
    t.match(text, /▶ agent\n.*! denied: touch\S* x: no\n.*│ It is done\./)
    t.match(
      text,
      /▶ one {2}sh, step 1 of 2\n.*│ fine\n.*✓ one {2}exit 0.*\n.*▶ two {2}sh, step 2 of 2\n/,
    )
    t.notMatch(text, '\u001b')
    const first = [
      { time: '', mode: 'work' as const, tool: 'Bash', action: 'touch x', reason: 'no' },
    ]
    const refused = kept(0)
    printRefused(refused, { plan: 0, work: 1, first })
    t.equal(refused.text(), '\nDenied  1 action was denied\n  ✗ Bash touch x\n    no\n')
  })
  t.test('what an agent used', async (t) => {
    const counts = { input_tokens: 12_400, output_tokens: 310, cached_tokens: 8000 }
    const payload = { mode: 'work', model: 'opus\u001b', cost_usd: 0.0093, ...counts }
    const reported = eventLine('agent_usage', payload)
    t.match(
      reported?.text,
      /^used opus\S*, 12,400 tokens in \(8,000 cached\), 310 out, about \$0\.0093$/,
    )
    t.notMatch(reported?.text, '\u001b')
  })
  t.test('in JSON, which stays the same document', async (t) => {
    const text = jsonText({ a: '\u009b2J\u202e\u001b' })
    t.notMatch(text, /[\u009b\u202e\u001b]/)
    t.strictSame(JSON.parse(text), { a: '\u009b2J\u202e\u001b' })
  })
})
