import t from 'tap'
import { errorText } from '../../src/runners/agents/agent-text.ts'
import {
  planAmong,
  planOf,
  planOfWords,
  splitPresented,
} from '../../src/runners/agents/plan-text.ts'
import { cpuTime } from '../fixtures/cpu-time.ts'
import { inLongLane } from '../fixtures/full.ts'

const lines = (...texts: string[]) => texts.join('\n')
const BEGIN = '<!-- casefile:plan -->'
const END = '<!-- /casefile:plan -->'

t.test('the plan in what an agent said', async (t) => {
  const cases: [name: string, said: string, hypothesis: string, plan: string][] = [
    ['no headings', 'Fix it.\n\n1. do\n', '', 'Fix it.\n\n1. do'],
    [
      'both headings, with chatter before',
      lines(
        'Here you are:',
        '',
        '## Hypothesis',
        '',
        'It is slow.',
        '',
        '## Plan',
        '',
        '1. do',
        '',
      ),
      'It is slow.',
      '1. do',
    ],
    [
      'any case, depth 1 to 3, and what people put around a heading',
      lines('# HYPOTHESIS:', 'H', '### **plan** ###', 'P'),
      'H',
      'P',
    ],
    ['CRLF', '## Hypothesis\r\nH\r\n## Plan\r\na\r\nb\r\n', 'H', 'a\r\nb'],
    [
      'other sections of the plan stay in it',
      lines('## Hypothesis', 'H', '## Plan', 'P', '### Step', 'S', '## Verification', 'V'),
      'H',
      lines('P', '### Step', 'S', '## Verification', 'V'),
    ],
    [
      'the plan first',
      lines('## Plan', 'P', '## Hypothesis', 'H', '## Verification', 'V'),
      'H',
      lines('P', '## Verification', 'V'),
    ],
    [
      'a title that says plan, and no other',
      lines('# Plan', '## Hypothesis', 'H', '## Steps', 'S'),
      'H',
      lines('## Steps', 'S'),
    ],
    ['only a plan', lines('Sure!', '## Plan', 'P'), '', 'P'],
    ['only a hypothesis', lines('## Hypothesis', 'H'), '', lines('## Hypothesis', 'H')],
    [
      'headings in fences are none',
      lines('```sh run', '# Plan', 'make', '```', '~~~', '## Hypothesis', '```', '~~~', 'x'),
      '',
      lines('```sh run', '# Plan', 'make', '```', '~~~', '## Hypothesis', '```', '~~~', 'x'),
    ],
    [
      'headings in a fence of a list are none',
      lines('## Plan', '1. do', '   ```sh', '   # plan', '   ```', '2. end'),
      '',
      lines('1. do', '   ```sh', '   # plan', '   ```', '2. end'),
    ],
    [
      'one fence around all of it, with fences inside',
      lines('```markdown', '## Plan', '', '```sh run', 'make', '```', '', 'End.', '```', ''),
      '',
      lines('```sh run', 'make', '```', '', 'End.'),
    ],
    [
      'two fences are not one around all of it',
      lines('```md', 'a', '```', 'or', '```sh run', 'make', '```'),
      '',
      lines('```md', 'a', '```', 'or', '```sh run', 'make', '```'),
    ],
    ['a fence of another kind', lines('```sh run', 'make', '```'), '', '```sh run\nmake\n```'],
    [
      'the marked text, whatever is around it',
      lines(
        '## Plan',
        'chat',
        BEGIN,
        '',
        '## Hypothesis',
        'H',
        '## Plan',
        'P',
        END,
        '## Plan',
        'x',
      ),
      'H',
      'P',
    ],
    ['the last pair', lines(BEGIN, 'first', END, BEGIN, 'second', END, 'bye'), '', 'second'],
    [
      'marks that are only named',
      lines(BEGIN, 'P', END, `I put it between ${BEGIN} and ${END}.`),
      '',
      'P',
    ],
    ['an empty pair', lines(BEGIN, 'P', END, BEGIN, '', END), '', 'P'],
    ['a pair that is not complete', lines('P', BEGIN, 'Q'), '', lines('P', BEGIN, 'Q')],
    ['marks in a fence', lines('```markdown', BEGIN, 'P', END, '```'), '', 'P'],
    ['a fence in marks', lines(BEGIN, '```md', '## Plan', 'P', '```', END), '', 'P'],
    ['indented code first', lines('## Plan', '', '    make', ''), '', '    make'],
    ['half a character', 'fix \ud83d', '', 'fix \ufffd'],
  ]
  for (const [name, said, hypothesis, plan] of cases) {
    t.test(name, async (t) => {
      t.strictSame(planOf(said), { hypothesis, plan })
    })
  }

  for (const said of ['', ' \n\n', '## Plan\n', '## Hypothesis\nH\n## Plan\n \n']) {
    t.equal(planOf(said), null, `no plan: ${JSON.stringify(said)}`)
  }
})

t.test('the message that holds the plan', async (t) => {
  const P = { hypothesis: '', plan: 'P' }
  const cases: [name: string, messages: string[], plan: object | null][] = [
    ['none', [], null],
    ['nothing said', ['', '\n'], null],
    ['the last with a list', ['- old', '* P', ''], { hypothesis: '', plan: '* P' }],
    ['a step', ['I look.', '```sh run\nP\n```'], { hypothesis: '', plan: '```sh run\nP\n```' }],
    ['words that are none', ['I look.', 'I am not able to do that.', ''], null],
    ['only a hypothesis', ['## Hypothesis\nH'], null],
    ['half of one', [`${BEGIN}\n## Plan\n\n1. P`], null],
    ['half of one, then all of it', [`${BEGIN}\nQ`, `${BEGIN}\nP\n${END}`], P],
    ['marks that are only named', [`I put it between ${BEGIN} and its end.`, '## Plan\nP'], P],
    ['the one with a heading', ['I look.', '## Plan\nP', 'That was the plan.'], P],
    ['the last with a heading', ['## Plan\nold', '## Plan\nP', 'Bye.'], P],
    ['the marked one', [`${BEGIN}\nP\n${END}`, '## Plan\nother'], P],
    ['a marked text across messages', ['Now:', `${BEGIN}\nP`, `${END}\nBye.`], P],
  ]
  for (const [name, messages, plan] of cases) {
    t.test(name, async (t) => t.strictSame(planAmong(messages), plan))
  }
})

t.test('the words of a program of which nothing is known', async (t) => {
  t.match(planOfWords('Just do it.'), { plan: 'Just do it.' })
  t.match(planOfWords('Error: 400 is shown.\n\n1. Raise it.'), { plan: /Raise it/ })
  for (const said of ['', 'Error: 400 scripted', '{"error":{"message":"no"}}', `${BEGIN}\nP`]) {
    t.equal(planOfWords(said), null, said)
  }
})

t.test('an error as a part of a sentence', async (t) => {
  const json = '{"error":{"code":400,"message":"no key","status":"INVALID"}}'
  const stack =
    '\n    at run (file:///x/chunk.js:1:2)\n    at async Turn.run (node:internal:3:4) {\n  status: 400\n}'
  const cases: [said: string, expected: string][] = [
    ['API Error: 400 no', 'API Error: 400 no'],
    ['[API Error: terminated]', 'API Error: terminated'],
    [json, 'no key (400)'],
    [`[API Error: ${json}]`, 'API Error: no key (400)'],
    [JSON.stringify({ error: { message: json } }), 'no key (400)'],
    [`It failed: _ApiError: ${json}${stack}`, 'It failed: _ApiError: no key (400)'],
    ['{"message":"x"', '{"message":"x"'],
    ['{"error":"busy"}', 'busy'],
    ['{}', '{}'],
  ]
  for (const [said, expected] of cases) t.equal(errorText(said), expected)
  t.ok(errorText('x'.repeat(5000)).length < 400)
})

t.test('a hostile text takes no time', inLongLane, async (t) => {
  const texts = [
    '`'.repeat(200_000),
    `${BEGIN}${END}`.repeat(10_000),
    '\n'.repeat(300_000),
    `${'# '.repeat(100_000)}\n`,
    '```\n'.repeat(50_000),
    BEGIN.repeat(10_000) + END.repeat(10_000),
    ' '.repeat(200_000) + '\nx',
    `## Plan${'*'.repeat(200_000)}x\nP`,
  ]
  for (const text of texts) {
    const took = await cpuTime(
      () => {
        planAmong([text])
        planOfWords(text)
        errorText(text)
      },
      { enough: 2_000 },
    )
    t.ok(took < 2_000, `${JSON.stringify(text.slice(0, 20))} took ${Math.round(took)} ms`)
  }
})

t.test('a plan that is presented keeps all of its text besides its hypothesis', async (t) => {
  const table: [presented: string, hypothesis: string, plan: string][] = [
    ['1. Raise it.\n', '', '1. Raise it.\n'],
    ['# Plan\n\n1. Raise it.\n', '', '# Plan\n\n1. Raise it.\n'],
    ['# A\n\nb\n\n## Hypothesis\nc\n\n## Plan\n\nd\n', 'c', '# A\n\nb\n\nd'],
    ['## Hypothesis\nc\n\n## Context\nd\n\n## Plan\ne', 'c\n\n## Context\nd', 'e'],
    ['a\n\n## Plan\nb\n\n## Hypothesis\nc\n\n## Scope\nd', 'c', 'a\n\nb\n\n## Scope\nd'],
    ['a\n\n## Hypothesis\nc\n\n## Steps\nd', 'c', 'a\n\n## Steps\nd'],
    ['a\n\n## Hypothesis\nc\n', '', 'a\n\n## Hypothesis\nc\n'],
    ['## Hypothesis\n\n## Plan\nd', '', '## Hypothesis\n\n## Plan\nd'],
  ]
  for (const [presented, hypothesis, plan] of table) {
    t.strictSame(splitPresented(presented), { hypothesis, plan }, JSON.stringify(presented))
  }
})
