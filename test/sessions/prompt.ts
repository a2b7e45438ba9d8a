import t from 'tap'
import type { EarlierSession, PromptContext } from '../../src/sessions/context.ts'
import { planPrompt, workPrompt } from '../../src/sessions/prompt.ts'

const MAX_BYTES = 96 * 1024

function contextWith(more: Partial<PromptContext> = {}): PromptContext {
  return {
    case: {
      id: 'c1',
      title: 'Slow logins',
      type: 'bug',
      state: 'PLANNING',
      description: 'It takes 30 s.\n\n```js\nwait()\n```',
    },
    checklist: ['- The test passes (test-log, required)'],
    tests: null,
    type: 'implementing',
    notes: [],
    earlier: [],
    similar: [],
    instructions: '',
    projectInstructions: [],
    ...more,
  }
}

function earlier(number: number, more: Partial<EarlierSession> = {}): EarlierSession {
  return {
    number,
    outcome: `Session ${number} failed.`,
    hypothesis: 'h',
    plan: 'p',
    output: 'o',
    failedTests: [],
    ...more,
  }
}

t.test('what goes in', async (t) => {
  const { text, files, leftOut } = planPrompt(
    contextWith({
      notes: [{ name: 'notes.md', text: 'The pool is small.\n\n````\nfence\n````' }],
      earlier: [earlier(2), earlier(1)],
      instructions: 'Begin with a test.',
    }),
    null,
  )
  t.strictSame(leftOut, [])
  t.strictSame(files, ['case.md', 'casefile.md', 'sessions/2.md', 'notes.md', 'sessions/1.md'])
  for (const part of [
    'Slow logins',
    'It takes 30 s.',
    'The test passes (test-log, required)',
    'Begin with a test.',
    'Session 2 failed.',
    'The pool is small.',
    'Session 1 failed.',
    '<!-- casefile:plan -->',
    '<!-- /casefile:plan -->',
    '```sh run id=',
    'how to prove it',
  ]) {
    t.ok(text.includes(part), part)
  }
  t.match(text, /`````text\nThe pool is small\./, 'a fence that the text cannot close')
  t.notOk(text.includes('operator wants changed'))
})

t.test(
  'the instructions of a project go in before what was tried, each cut to its size',
  async (t) => {
    const projectInstructions = [
      { name: '../CLAUDE.md', text: 'Use tabs.' },
      { name: 'CLAUDE.md', text: 'x'.repeat(30_000) },
      { name: 'CLAUDE.local.md', text: null },
    ]
    const instructions = 'Do it well.'
    const { text, files, leftOut } = planPrompt(
      contextWith({ projectInstructions, instructions, earlier: [earlier(1)] }),
      null,
    )
    t.strictSame(files, [
      'case.md',
      'casefile.md',
      '../CLAUDE.md',
      'CLAUDE.md',
      'CLAUDE.local.md',
      'sessions/1.md',
    ])
    t.strictSame(leftOut, ['CLAUDE.md', 'CLAUDE.local.md'])
    t.match(text, '# Instructions of the project, from ../CLAUDE.md\n\n```text\nUse tabs.\n```')
    t.ok(Buffer.byteLength(text) < 30_000)
  },
)

t.test('what was learned from resolved cases like it', async (t) => {
  const known = { id: 'c0', title: 'Slow sign-in', outcome: 'ConfirmedConfigBug', reason: null }
  const proof = [
    {
      id: 'p1',
      type: 'test-log',
      verified_at: null,
      accepted: 'Both are flaky.',
      accepted_despite: '2 of 23 tests failed: signs in, signs out',
    },
  ]
  const similar = [{ ...known, cause: 'The pool is small.', proof }]
  const { text, files } = planPrompt(contextWith({ similar }), null)
  t.strictSame(files, ['case.md', 'similar cases'])
  t.match(
    text,
    /Title: Slow sign-in\nCase: c0\nOutcome: ConfirmedConfigBug\nHypothesis of its last session: The pool is small.\nProved by: test-log\nAccepted with failures: test-log, despite: 2 of 23 tests failed: signs in, signs out\. The operator's reason: Both are flaky\./,
  )
})

t.test('a note, and a plan that is to be changed', async (t) => {
  const first = planPrompt(contextWith(), { plan: null, note: 'Mind the schema.' }).text
  t.match(first, /# What the operator asks for\n\n```text\nMind the schema\.\n```/)
  const again = planPrompt(contextWith(), { plan: '1. Drop the table', note: 'No.' }).text
  t.match(again, /# What the operator wants changed[\s\S]*No\.[\s\S]*1\. Drop the table/)
})

t.test(
  'the failed tests of an earlier session stand before its texts, and are bounded',
  async (t) => {
    const failedTests = Array.from({ length: 20 }, (_, index) => ({
      name: `login > case ${index}`,
      message: `${'m'.repeat(400)} end ${index}`,
      file: 'test/login.ts',
      line: index + 1,
    }))
    const { text } = planPrompt(contextWith({ earlier: [earlier(1, { failedTests })] }), null)
    t.match(text, /Failed tests:\n\n```text\n- login > case 0 \(test\/login\.ts:1\): mmm/)
    t.ok(text.indexOf('Failed tests:') < text.indexOf('Hypothesis:'))
    t.match(text, 'end 8', 'nine fit into 4 KiB')
    t.notMatch(text, 'end 12')
  },
)

t.test('what is least useful is left out first, and the rest stays whole', async (t) => {
  const long = ['a.md', 'b.md', 'c.md', 'd.md'].map((name) => ({
    name,
    text: `${name} ${'é'.repeat(20_000)}`,
  }))
  const notes = [{ name: 'short.md', text: 'short' }, ...long]
  const { text, files, leftOut } = planPrompt(
    contextWith({ notes, earlier: [earlier(2), earlier(1)], instructions: 'Do it well.' }),
    null,
  )
  t.ok(Buffer.byteLength(text) <= MAX_BYTES, `${Buffer.byteLength(text)} bytes`)
  const first = ['case.md', 'casefile.md', 'sessions/2.md', 'short.md']
  t.strictSame(files, [...first, 'a.md', 'b.md', 'c.md', 'd.md'])
  t.strictSame(leftOut, ['a.md', 'b.md', 'c.md', 'd.md', 'sessions/1.md'])
  t.equal(text.match(/\[casefile: cut here for length\]/g)?.length, 4)
  t.notOk(text.includes('\ufffd'), 'cut between characters')
  t.ok(text.includes('Do it well.'))
})

t.test('a description of any length leaves room for the task', async (t) => {
  const description = 'x'.repeat(250_000)
  const { text } = planPrompt(contextWith({ case: { ...contextWith().case, description } }), null)
  t.ok(Buffer.byteLength(text) <= MAX_BYTES)
  t.match(text, /You plan a piece of work/)
})

t.test('the approved plan is never cut', async (t) => {
  const plan = `# Plan\n\n${'1. do it\n'.repeat(25_000)}\`\`\`sh\nx\n\`\`\``
  const notes = [{ name: 'a.md', text: 'a' }]
  const { text, leftOut } = workPrompt(contextWith({ notes }), {
    plan,
    sha256: 'abc123',
    notes: 'Mind the cookie.',
  })
  t.ok(text.includes(plan))
  t.match(text, /Its SHA-256 is abc123/)
  t.match(text, /# Notes of the operator\n\n[\s\S]*Mind the cookie/)
  t.strictSame(leftOut, ['a.md'])
})
