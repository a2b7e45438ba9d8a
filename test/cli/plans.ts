import t from 'tap'
import { changeText } from '../../src/cli/output/plan-change.ts'
import { planView } from '../../src/cli/output/plan-view.ts'
import { stringWidth } from '../../src/cli/output/screen-width.ts'
import { useParser } from '../../src/markdown/parser-pool.ts'
import type { SessionState } from '../../src/model/session-state.ts'
import { DEFAULT_SETTINGS, type ProviderSettings } from '../../src/model/settings.ts'
import type { TrustedSettings } from '../../src/settings/trusted-settings.ts'
import { kept } from '../fixtures/kept-terminal.ts'

t.after(useParser())

const PLANNER: ProviderSettings = {
  kind: 'command',
  plan: ['planner'],
  work: null,
  prompt: 'stdin',
}
const SETTINGS: TrustedSettings = {
  ...DEFAULT_SETTINGS,
  providers: new Map([['planner', PLANNER]]),

  trust: 'trusted',
  file: DEFAULT_SETTINGS,
  removed: [],
  folders: new Set(),
  files: new Map(),
}
const RUNBOOK = 'Look.\n\n```sh run id=look\nls\n```\n\nThen rest.\n'
const ORDER =
  '1. Mend it.\n\n```sh run id=look\nls\n```\n\n```sh run id=test proof=log\nmake\n```\n'

interface Waiting {
  provider?: string
  state?: SessionState
  settings?: TrustedSettings
  width?: number
}

function view(
  plan: string,
  {
    provider = 'runbook',
    state = 'plan_ready',
    settings,
    width = Number.POSITIVE_INFINITY,
  }: Waiting = {},
) {
  const terminal = { ...kept(0), width: () => width }
  return planView({ plan, provider, origin: 'service', state }, settings ?? SETTINGS, terminal)
}

t.test('the scope of a plan is shown below it', async (t) => {
  const shown = await view(
    '---\npaths: [src/**]\ncommands: []\n---\n\n```sh run id=look\nls\n```\n',
  )
  t.match(shown, /▶ ```\n\nScope, paths: src\/\*\*\nScope, commands: none\nCasefile runs this one/)
})

t.test('a plan is shown with what will run marked', async (t) => {
  t.equal(
    await view('Look.\n\n```sh run id=look\nls\n```\n\n```sh\nrm -rf /\n```\n'),
    [
      '  Look.',
      '',
      '▶ ```sh run id=look',
      '▶ ls',
      '▶ ```',
      '',
      '  ```sh',
      '  rm -rf /',
      '  ```',
      '',
      'Casefile runs this one step; no agent is involved.',
      'Run by Casefile: look (sh)',
      '',
    ].join('\n'),
  )
})

t.test('what a terminal would not show stands in it as an escape', async (t) => {
  const shown = await view('```sh run\necho \u001b[2J\u202e\n```\n')
  t.match(shown, /^▶ echo \\u\{1b\}\[2J\\u\{202e\}$/m)
  const fromRight = await view('```sh run\nrm \u05d0/1 \u05d1\n```\n')
  t.match(fromRight, '▶ rm \u05d0\u200e/1 \u05d1\u200e\n', 'words from right to left move none')
})

t.test('each row of a line that runs is marked, however narrow the terminal', async (t) => {
  const script = `echo ok #${' '.repeat(60)}This plan has no steps to run.\n日本語日本語日本語日本語`
  const fence = `\`\`\`sh run id=look\n${script}\n\`\`\``
  for (const width of [9, 20, 23]) {
    const lines = (await view(`${'a'.repeat(60)}\n\n${fence}\n`, { width })).split('\n')
    for (const line of lines) t.ok(stringWidth(line) <= width, line)
    const prose = lines.slice(0, lines.indexOf(''))
    t.ok(prose.length > 1 && prose.every((line) => line.startsWith('  a')))
    const running = lines.slice(prose.length + 1, lines.indexOf('', prose.length + 1))
    t.ok(running.every((line) => line.startsWith('▶ ')))
    const text = running.join('').replace(/^▶ /, '').replace(/▶ ↪ /g, '').replace(/▶ /g, '\n')
    t.equal(text, fence)
    t.ok(running.at(-2)?.startsWith('▶ ↪ '), 'wide characters are counted')
  }
})

t.test('below a plan stands what approving it starts:', async (t) => {
  const cases: [how: string, plan: string, waiting: Waiting, end: RegExp][] = [
    [
      'nothing',
      '1. Think\n',
      {},
      /\n\nThis plan has no steps to run\. .* without running anything\.\n$/,
    ],
    [
      'the agent, for a plan in words',
      '1. Mend it.\n',
      { provider: 'claude' },
      /\n\nclaude will carry out this plan\. Casefile itself runs nothing\.\n$/,
    ],
    [
      'the agent, and behind it the steps that give proof',
      ORDER,
      { provider: 'claude' },
      /^ {2}ls$[\s\S]*^▶ make$[\s\S]*claude will carry out this plan\. Casefile then runs 1 check: test\.\nRun by Casefile: test \(sh\)\n$/m,
    ],
    [
      'no agent, for a runbook that one wrote',
      RUNBOOK,
      { provider: 'claude' },
      /Casefile runs this one step; no agent is involved\.\n/,
    ],
    [
      'no agent, where one only plans',
      RUNBOOK,
      { provider: 'planner' },
      /no agent is involved\.\n/,
    ],
    [
      'nothing, where one only plans and this is no runbook',
      '1. Mend it.\n',
      { provider: 'planner' },
      /\n\nIt cannot be approved yet\. The provider planner only plans, .* request a new one\.\n$/,
    ],
    [
      'nothing, where the provider is not known',
      RUNBOOK,
      { provider: 'nobody' },
      /cannot be approved yet\. There is no provider "nobody"\.\n$/,
    ],
    [
      'nothing, where the provider is not trusted',
      RUNBOOK,
      { provider: 'planner', settings: { ...SETTINGS, trust: 'untrusted' } },
      /cannot be approved yet\. casefile\.md defines .*casefile doctor --trust/,
    ],
    [
      'its mistakes',
      '```cobol run\nx\n```\n',
      { provider: 'claude' },
      /\n\nThis plan cannot run:\n {2}line 1: "cobol"/,
    ],
    [
      'and no objection once that is over',
      '1. Go\n',
      { provider: 'gone', state: 'complete' },
      /^ {2}1\. Go\n$/,
    ],
  ]
  for (const [how, plan, waiting, end] of cases) {
    t.test(how, async (t) => {
      t.match(await view(plan, waiting), end)
    })
  }
})

t.test('the change of a plan', async (t) => {
  t.test('is told in lines, and what does not show in escapes', async (t) => {
    t.equal(
      changeText(kept(0), 'a\nb\n', 'a\n-c\u202e\n'),
      '@@ -1,2 +1,2 @@\n a\n-b\n+-c\\u{202e}\n',
    )
    t.equal(changeText(kept(0), 'a\n', 'a\n'), '(the same text)\n')
    const narrow = { ...kept(0), width: () => 10 }
    t.match(changeText(narrow, 'a\n', `${'b'.repeat(20)}\n`), '+bbbbbbb\n+↪ bbbbbbb\n+↪ bbbbbb\n')
  })
  t.test('is not looked for without end', async (t) => {
    const lines = (word: string) =>
      Array.from({ length: 60_000 }, (_, line) => `${word}${line}\n`).join('')
    t.match(changeText(kept(0), lines('a'), lines('b')), /too large, or too different/)
  })
})
