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
      fence('sh') + fence('') + fence('js running') + fence('rust,no_run') + fence('js bun'),
      [],
    ],
    ['a fence in a longer one', fence('markdown', fence('SH RUN'), '````'), []],
    ['a step in a comment', '<!--\n```sh run\ntrue\n```\n-->\n', []],
    ['a word in quotes', fence('bash title="How to run it"'), []],
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
    [
      'that looks closed in its last line',
      '```sh run\necho a\n    ```\n```\n',
      [{ script: 'echo a\n    ```' }],
    ],
    ['with empty lines', '```sh run\n\ntrue\n\n```', [{ script: '\ntrue\n' }]],
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

t.test('the exit code of a test step is that of its tests', async (t) => {
  const scripts: [script: string, language: string, why: RegExp | null][] = [
    ['make test', 'sh', null],
    ['cd a\nnpm ci && npm test -- -t "a|b" 2>&1', 'sh', null],
    ["pytest -k 'a || b' # a | b", 'sh', null],
    ['pytest | tail -5', 'sh', /a pipe in sh/],
    ['pytest | tail -5', 'bash', null],
    ['pytest || true', 'bash', /\|\| hides/],
    ['pytest &\nwait', 'sh', /behind & runs apart/],
    ['set +e\npytest\necho done', 'sh', /set \+e/],
    ['if pytest; then echo ok; fi', 'sh', /a condition/],
    ['! pytest', 'sh', /a condition/],
    ['pytest && echo ok\necho done', 'sh', /&& hides/],
    ['process.exit(a || b)', 'js', null],
  ]
  for (const [script, language, why] of scripts) {
    const of = async (proof: string) =>
      (await readPlan(`\`\`\`${language} run proof=${proof}\n${script}\n\`\`\`\n`)).errors
    if (why === null) t.strictSame(await of('test'), [], script)
    else t.match(await of('test'), [{ line: 1, message: why }], script)
    t.strictSame(await of('log'), [], script)
  }
})

t.test('what is not understood makes the plan invalid, with its line', async (t) => {
  const cases: [info: string, message: RegExp][] = [
    ['sh, run', /"sh," cannot be run/],
    ['python run', /"python" cannot be run: expected sh, bash, js/],
    ['sh run foo=1', /unknown key "foo": expected id, timeout/],
    ['sh run id=', /id=: expected/],
    ['sh run id=a/b', /id=a\/b: expected/],
    [`sh run id=${'a'.repeat(41)}`, /at most 40/],
    ['sh run timeout=0s', /timeout=0s: expected/],
    ['sh run timeout=10', /timeout=10: expected/],
    ['sh run cwd=/etc', /cwd=\/etc: expected a folder inside/],
    ['sh run cwd=a/../../b', /expected a folder inside/],
    ['sh run expect=256', /expected exit codes/],
    ['sh run expect=0,', /expected exit codes/],
    ['sh run continue=yes', /expected true or false/],
    ['sh run proof=xml', /proof=xml: expected tap, junit, go, test, log/],
    ['sh run id=a id=b', /id appears twice/],
    ['sh run id=a,timeout=1s', /expected a word/],
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

t.test('what is nearly a step makes the plan invalid, with its line', async (t) => {
  const infos = [
    'SH RUN id=a',
    'bash urn',
    'sh runs',
    'run',
    'run id=a',
    'sh id=a run',
    'sh,run',
    'sh-run',
    'shrun',
    '{.sh .run}',
    'sh {run}',
    'sh "run"',
    'sh run,id=a',
    'sh run{id=a}',
    'sh\u00a0run',
    'sh ru\u200bn',
    'sh \uff52\uff55\uff4e',
    'sh id=test proof=tap',
    'bash timeout=5m',
  ]
  for (const info of infos) {
    t.test(info, async (t) => {
      const read = await readPlan(`One.\n\n${fence(info)}`)
      t.match(read.errors, [{ line: 3, message: /is nearly a step: write ```sh run/ }])
      t.strictSame(read.steps, [])
    })
  }
  const lines: [name: string, plan: string][] = [
    ['with two backticks', '\n\n``sh run id=a\ntrue\n``\n'],
    ['with quotes for backticks', "\n\n'''sh run id=a\ntrue\n'''\n"],
    ['in HTML', 'Do it.\n\n<details>\n```sh run\ntrue\n```\n</details>\n'],
    ['indented below a paragraph', 'Do\nthis:\n    ```sh run\n    true\n    ```\n'],
  ]
  for (const [name, plan] of lines) {
    t.test(name, async (t) => {
      const read = await readPlan(plan)
      const line = plan.split('\n').findIndex((text) => text.includes('sh run')) + 1
      t.match(read.errors, [{ line, message: /opens no code block/ }])
      t.strictSame(read.steps, [])
    })
  }
})

t.test('a step of which only half would run makes the plan invalid', async (t) => {
  const plans: [name: string, plan: string, errors: object[]][] = [
    [
      'a fence in a here-document',
      '```sh run id=a\ncat > x.md <<EOF\n```js\nconsole.log(1)\n```\nEOF\necho done\n```\n\n## Then\n',
      [{ line: 1, message: /EOF does not end in this step: use a longer fence/ }, { line: 8 }],
    ],
    [
      'plain fences in a here-document',
      "\n```sh run\ncat > x.md <<-'END OF IT'\n```\nls\n```\nEND OF IT\n```\n",
      [{ line: 2, message: /END OF IT does not end/ }],
    ],
    [
      'a here-document in a substitution',
      '```bash run\ngit commit -m "$(cat <<\'EOF\'\nSay:\n```\nls\n```\nEOF\n)"\n```\n',
      [{ line: 1, message: /EOF does not end/ }],
    ],
    [
      'a fence in quotes',
      "```sh run\nprintf '%s' 'a\n```\nls\n```\n' > x.md\n```\n",
      [{ line: 1, message: /ends within ' quotes/ }],
    ],
    [
      'a fence in a template literal',
      '```js run\nwrite(`\n```\nls\n```\n`)\n```\n',
      [{ line: 1, message: /ends within ` quotes/ }],
    ],
    ['no closing fence', '```sh run\necho a\n', [{ line: 1, message: /no closing fence/ }]],
    [
      'a block below that is not closed',
      `${fence('sh run')}\ntext\n\n\`\`\`\nmore\n`,
      [{ line: 7, message: /no closing fence/ }],
    ],
  ]
  for (const [name, plan, errors] of plans) {
    t.test(name, async (t) => {
      const read = await readPlan(plan)
      t.match(read.errors, errors)
      t.equal(read.errors.length, errors.length)
    })
  }
})

t.test('a whole script is no half step', async (t) => {
  const scripts = [
    'cat > x.md <<EOF\n```js\nEOF\necho done',
    "cat <<'A' - <<-B\n$(\nA\n\t\"\n\tB\necho",
    'git commit -m "$(cat <<\'EOF\'\nIt\'s "done"\nEOF\n)"',
    'x=$(cat <<EOF\na\nEOF)',
    'echo $((1 << 2)); (( x = y << z ))',
    "cat <<< word; echo '<<EOF' \"<<EOF\" \\<\\<EOF # <<EOF isn't",
    "echo $'it\\'s' $# a#'b'",
    'case $x in a) echo "a";; esac',
    `awk '{ x = 1 << n }' "$(printf '%s' "a")"`,
  ]
  for (const script of scripts) {
    t.test(script, async (t) => {
      const { errors, steps } = await readPlan(
        `${fence('sh run', script, '````')}\nResult:\n\n${fence('')}`,
      )
      t.strictSame(errors, [])
      t.equal(steps[0]?.script, script)
    })
  }
})
