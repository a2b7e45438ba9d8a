import t from 'tap'
import { readPlan } from '../../src/markdown/plan-steps.ts'

t.teardown(async () => (await import('../../src/markdown/parser-pool.ts')).useParser())

const fence = (info: string, script = 'true', mark = '```') =>
  `${mark}${info}\n${script}\n${mark}\n`

t.test('a fence with run behind its language is a step', async (t) => {
  const DEFAULTS = { timeoutMs: null, cwd: '.', expect: [0], continue: false, proof: null }
  const cases: [name: string, plan: string, steps: object[]][] = [
    ['no fence', 'Do it.\n', []],
    [
      'fences of other kinds',
      fence('sh') + fence('') + fence('js running') + fence('ts x run'),
      [],
    ],
    ['an indented code block', '    ```sh run\n    true\n    ```\n', []],
    [
      'with defaults',
      `Text.\n\n${fence('sh run', 'echo a\necho b')}`,
      [{ ...DEFAULTS, id: 'step-1', language: 'sh', script: 'echo a\necho b', line: 3 }],
    ],
    [
      'with every key',
      fence(
        'bash run id=a_b-1 timeout=90s cwd=packages/api expect=0,2,255 continue=true proof=tap',
      ),
      [
        {
          id: 'a_b-1',
          language: 'bash',
          script: 'true',
          line: 1,
          timeoutMs: 90_000,

          cwd: 'packages/api',
          expect: [0, 2, 255],
          continue: true,
          proof: 'tap',
        },
      ],
    ],
    ['in any case of letters', fence('SH run'), [{ language: 'sh' }]],
    [
      'with tildes, and fences inside',
      fence('js run', '```\nx\n```', '~~~~'),
      [{ script: '```\nx\n```' }],
    ],
    [
      'in a list and in a quotation',
      `1. do\n\n   ${fence('sh run').replaceAll('\n', '\n   ')}\n\n> ${fence('sh run').replaceAll('\n', '\n> ')}`,
      [
        { id: 'step-1', script: 'true', line: 3 },
        { id: 'step-2', script: 'true' },
      ],
    ],
    ['numbered by place', fence('sh run id=x') + fence('sh run'), [{ id: 'x' }, { id: 'step-2' }]],
    [
      'in a text with CRLF',
      fence('sh run id=x', 'echo a\necho b').replaceAll('\n', '\r\n'),
      [{ id: 'x', script: 'echo a\necho b' }],
    ],
    ['not closed', '```sh run\necho a\n', [{ script: 'echo a' }]],
  ]
  for (const [name, plan, steps] of cases) {
    t.test(name, async (t) => {
      const read = await readPlan(plan)
      t.strictSame(read.errors, [])
      t.equal(read.steps.length, steps.length)
      t.match(read.steps, steps)
    })
  }
})

t.test('what is not understood makes the plan invalid, with its line', async (t) => {
  const cases: [info: string, message: RegExp][] = [
    ['python run', /"python" cannot be run: expected sh, bash, js/],
    ['sh run foo=1', /unknown key "foo": expected id, timeout/],
    ['sh run constructor=1', /unknown key "constructor"/],
    ['sh run id', /id=: expected a word/],
    ['sh run id=', /id=: expected/],
    ['sh run id=a/b', /id=a\/b: expected/],
    ['sh run id=-a', /id=-a: expected/],
    [`sh run id=${'a'.repeat(41)}`, /at most 40/],
    ['sh run timeout=0s', /timeout=0s: expected/],
    ['sh run timeout=-1s', /timeout=-1s: expected/],
    ['sh run timeout=10', /timeout=10: expected/],
    ['sh run cwd=/etc', /cwd=\/etc: expected a folder inside/],
    ['sh run cwd=a/../../b', /expected a folder inside/],
    ['sh run expect=256', /expected exit codes/],
    ['sh run expect=0,', /expected exit codes/],
    ['sh run continue=yes', /expected true or false/],
    ['sh run proof=xml', /proof=xml: expected tap, junit, go, log/],
    ['sh run id=a id=b', /id appears twice/],
    ['sh run id=a,timeout=1s', /expected a word/],
    ['sh run ID=a', /unknown key "ID"/],
  ]
  for (const [info, message] of cases) {
    t.test(info, async (t) => {
      const read = await readPlan(`One.\n\n${fence(info)}`)
      t.match(read.errors, [{ line: 3, message }])
      t.strictSame(read.steps, [])
    })
  }
})

t.test('what no step may hold', async (t) => {
  const cases: [name: string, plan: string, errors: object[]][] = [
    ['nothing', fence('sh run', '  '), [{ line: 1, message: /empty/ }]],
    ['a NUL', fence('sh run', 'a\0b'), [{ line: 2, message: /NUL/ }]],
    ['more than 96 KiB', fence('sh run', 'x'.repeat(96 * 1024 + 1)), [{ message: /96 KiB/ }]],
    [
      'an id twice',
      fence('sh run id=Test') + fence('sh run id=test'),
      [{ line: 4, message: /taken/ }],
    ],
    [
      'the id of a place',
      fence('sh run id=step-2') + fence('sh run'),
      [{ line: 4, message: /taken/ }],
    ],
    ['more than 200 steps', fence('sh run').repeat(201), [{ line: 601, message: /at most 200/ }]],
    ['two errors', `${fence('py run')}\n${fence('sh run x=1')}`, [{ line: 1 }, { line: 5 }]],
  ]
  for (const [name, plan, errors] of cases) {
    t.test(name, async (t) => {
      const read = await readPlan(plan)
      t.equal(read.errors.length, errors.length)
      t.match(read.errors, errors)
    })
  }
})
