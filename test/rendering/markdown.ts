import t from 'tap'
import { useParser } from '../../src/markdown/parser-pool.ts'
import { readPlan } from '../../src/markdown/plan-steps.ts'
import { directionOf, inOrder } from '../../src/rendering/direction.ts'
import { hiddenWords } from '../../src/rendering/markdown/hidden-words.ts'
import { renderEverything, renderMarkdown } from '../../src/rendering/markdown/markdown.ts'
import { stepFacts } from '../../src/rendering/markdown/step-figure.ts'

t.teardown(useParser())

const BASE = '/case/1/memory/'
const TAG = /<(\/?)([a-z][a-z0-9]*)((?:\s+[a-z-]+(?:="[^"]*")?)*)\s*>/g
const ATTRIBUTE = /([a-z-]+)(?:="([^"]*)")?/g

/** All that may ever stand on a page because of a text. */
const ALLOWED: Record<string, RegExp> = {
  href: /^(https?:\/\/|mailto:|#text-|\/case\/1\/memory\/[A-Za-z0-9._-]+\.md(#text-.*)?$)/,
  rel: /^noopener noreferrer nofollow$/,
  target: /^_blank$/,
  id: /^(text-|step-)/,
  class:
    /^(image|image-mark|dead-link|link-address|fence-info|raw-html|footnote|footnote-label|table-scroll|language-\S+|task-list-item|contains-task-list|hl-[a-z]+|step|step-number|step-id|step-facts|code-line)$/,
  tabindex: /^0$/,
  role: /^region$/,
  'aria-label': /^/,
  'data-step': /^[\w-]+$/,
  'data-line': /^\d+$/,
  type: /^checkbox$/,
  checked: /^$/,
  disabled: /^$/,
  align: /^(left|right|center)$/,
  start: /^\d+$/,
}
const TAGS =
  /^(h[1-6]|p|div|blockquote|pre|hr|br|ul|ol|li|input|table|thead|tbody|tr|th|td|a|code|em|strong|del|sup|span|figure|figcaption)$/

/** What in this HTML is more than a text may bring. */
function others(html: string): string[] {
  const found: string[] = []
  const rest = html.replace(TAG, (_, end, tag, attributes: string) => {
    if (!TAGS.test(tag)) found.push(`<${end}${tag}>`)
    for (const [, name = '', value = ''] of attributes.matchAll(ATTRIBUTE)) {
      if (!ALLOWED[name]?.test(value)) found.push(`${name}="${value}"`)
    }
    return ''
  })
  if (rest.includes('<')) found.push(rest)
  return found
}

async function html(text: string, options = {}): Promise<string> {
  const rendered = await renderMarkdown(text, { base: BASE, ...options })
  if (rendered === null) throw new Error('too complex')
  return rendered.trim()
}

t.test('hostile texts are harmless', async (t) => {
  const attacks = [
    '<script>alert(1)</script>',
    '<scr<script>ipt>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '<svg onload=alert(1)>',
    '<style>body{display:none}</style>',
    '<p style="background:url(javascript:alert(1))">x</p>',
    '<iframe srcdoc="<script>alert(1)</script>">',
    '<form action="/cases" method="post"><button>Approve</button></form>',
    '<button formaction="javascript:alert(1)" form="approve">x</button>',
    '<base href="https://evil.org/">',
    '<meta http-equiv="refresh" content="0;url=https://evil.org">',
    '<a id="live" name="main">x</a>',
    '<div id="live" data-step="x" class="step">x</div>',
    '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
    '<!--><script>alert(1)</script>-->',
    '<![CDATA[<script>alert(1)</script>]]>',
    '[x](javascript:alert(1))',
    '[x](JaVaScRiPt:alert(1))',
    '[x](java\tscript:alert(1))',
    '[x](java&#x0A;script:alert(1))',
    '[x](&#106;&#97;vascript&colon;alert(1))',
    '[x](&#x01;javascript:alert(1))',
    '[x](javascript://example.org/%0aalert(1))',
    '[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)',
    '[x](file:///etc/passwd)',
    '[x](//evil.org)',
    '[x](\\\\evil.org\\x)',
    '[x](/cases/1/sessions/1/approve)',
    '[x](?approve)',
    '[x](../../cases)',
    '<javascript:alert(1)>',
    '[x]: javascript:alert(1)\n\n[x]',
    '[a](https://x.org/"onmouseover=alert(1)//)',
    '[a](https://x.org "x\\" onmouseover=alert(1)")',
    '[a](<https://x.org/><img src=x onerror=alert(1)>)',
    '![x](javascript:alert(1))',
    '![x" onerror="alert(1)](https://x.org/a.png)',
    '![x](https://evil.org/pixel.png)',
    '[![x](https://evil.org/a.png)](javascript:alert(1))',
    '```"><script>alert(1)</script>\nx\n```',
    '```js" onclick="alert(1)\nx\n```',
    '# "><script>alert(1)</script>',
    '- [ ] <img src=x onerror=alert(1)> " onclick="x',
    '| <script>alert(1)</script> " onfocus="x |\n|--|\n| x |',
    'x[^1]\n\n[^1]: <script>alert(1)</script> [x](javascript:alert(1))',
    'x[^"><script>]\n\n[^"><script>]: y',
    'x[^__proto__] [^constructor]\n\n[^__proto__]: y\n\n[^constructor]: z',
    '# __proto__\n\n# constructor\n\n[x](#__proto__)',
    'https://x.org/"onmouseover="alert(1)',
    'javascript:alert(1)@x.org mailto:javascript:alert(1)@x.org',
  ]
  for (const attack of attacks) {
    t.test(JSON.stringify(attack), async (t) => {
      t.strictSame(others(await html(attack)), [])
    })
  }
})

t.test('the check for strangers would see them', async (t) => {
  for (const bad of [
    '<script>',
    '<a href="javascript:alert(1)">',
    '<p onclick="x">',
    '<img src="x">',
    '<p>1 < 2</p>',
  ]) {
    t.not(others(bad).length, 0, bad)
  }
})

t.test('all of the text is in sight', async (t) => {
  const cases: [string, string, string][] = [
    [
      'raw HTML in a line',
      'a <b>c</b>',
      '<p>a <code class="raw-html">&#x3C;b></code>c<code class="raw-html">&#x3C;/b></code></p>',
    ],
    [
      'a comment',
      '<!-- do it -->',
      '<pre class="raw-html" tabindex="0"><code class="raw-html">&#x3C;!-- do it --></code></pre>',
    ],
    ['a line break', 'a<br/>b', '<p>a<br>b</p>'],
    [
      'a footnote that nothing refers to',
      '[^1]: *hidden*',
      '<div class="footnote" id="text-fn-1"><span class="footnote-label">[1]</span><p><em>hidden</em></p></div>',
    ],
    ['letters for machines alone', 'a\u{e0041}b', '<p>a[U+E0041]b</p>'],
    ['text that runs backwards', 'a\u202eb', '<p>a[U+202E]b</p>'],
    ['code that runs backwards', '`a\u2066b`', '<p><code>a[U+2066]b</code></p>'],
    [
      'a control character in code',
      '```\na\x1b[8m\n```',
      '<pre tabindex="0"><code>a␛[8m\n</code></pre>',
    ],
  ]
  for (const [name, text, expected] of cases) {
    t.test(name, async (t) => t.equal(await html(text), expected))
  }
})

t.test('of a plan, everything is in sight', async (t) => {
  const plans: [string, string][] = [
    ['a definition', 'Look.\n\n[//]: # (rm all of it)\n\nDone.'],
    ['a second definition', '[a]\n\n[a]: https://x.org "first"\n[a]: https://y.org "second"'],
    ['a definition in a list in a quote', '> - one\n>\n>   [b]: <hidden words> "title"\n'],
    ['an address and a title', '[docs](https://evil.org/run?x=drop "and delete it")'],
    ['an address of no link', '[docs](secret-order%20now.txt)'],
    ['a link with an empty text', 'a [](https://evil.org/do-it "quietly") b'],
    ['a long address', `[a](https://x.org/${'word'.repeat(600)})`],
    ['a reference by another name', '[text][The Label]\n\n[the label]: https://x.org'],
    ['an image', '![alt *text*](https://x.org/a.png "its title")'],
    ['an image that holds a link', '![a [b](https://evil.org "inner")](c.png)'],
    ['an image by reference', '![a][pic]\n\n[pic]: https://x.org/a.png "titled"'],
    ['cells beyond the head', '| a | b |\n|--|--|\n| 1 | 2 | also drop | everything |'],
    ['what stands behind the language', '```text also remove it\nx\n```'],
    ['the same in a quote', '> ~~~js {rm=1} title="words"\n> x\n> ~~~'],
    ['raw HTML and comments', 'a <b title="x">c</b>\n\n<!-- do it -->'],
    ['footnotes', 'a[^1]\n\n[^1]: b\n\n[^none]: c'],
    ['references to characters', 'caf&eacute;s &amp; t&#101;a &copy; 2026'],
    ['emphasis within a word', 'foo**bar**baz ~~no~~ snake_case __init__ \\*a\\*'],
    ['lists with numbers and boxes', '7. a\n8. b\n   - [x] done\n   - [ ] open\n\n> 1) c'],
    ['headings and code', '# A `b` #\n\nC\n===\n\n    indented 1. x\n\n| a |\n|-|\n| `b \\| c` |'],
    ['addresses as they stand', 'https://x.org/a?b=c&d <https://y.org> www.z.org a@x.org'],
    ['code in colours', '```sh\necho "\\n$HOME/a$(b)c"\n```\n\n```js\nconst a = `x$y` // z\n```'],
    ['signs that cannot be seen', 'a\u202eb\u200bc \u3164d `e\u3164f\u2066g`'],
  ]
  for (const [name, plan] of plans) {
    t.test(name, async (t) => {
      const { html, hidden } = (await renderEverything(plan, { base: BASE }))!
      t.strictSame(hidden, [])
      t.strictSame(others(html), [])
    })
  }

  t.test('where each stands', async (t) => {
    const of = async (plan: string) => (await renderEverything(plan))!.html.trim()
    t.match(
      await of('[a](https://x.org "b")'),
      /a<\/a> <span class="link-address">\(https:\/\/x\.org "b"\)<\/span>/,
    )
    t.match(await of('[//]: # (rm)'), '<code class="raw-html">[//]: # (rm)</code>')
    t.match(await of('```text also rm\nx\n```'), /<p class="fence-info">text also rm<\/p>\s*<pre/)
    t.match(await of('| a |\n|-|\n| b | c |'), /<td>b<\/td>\s*<td>c<\/td>/)
    t.notMatch(await of('<https://x.org>'), 'link-address')
  })

  t.test('a step says in its own words what stands behind its language', async (t) => {
    const plan = 'Look.\n\n```sh run id=look timeout=90s\nls\n```\n'
    const step = { id: 'look', language: 'sh' as const, cwd: '.', expect: [0], continue: false }
    const steps = [{ ...step, timeoutMs: 90_000, proof: null, baseline: false, line: 3 }]
    const { html, hidden } = (await renderEverything(plan, { steps }))!
    t.strictSame(hidden, [])
    t.notMatch(html, 'fence-info')
  })
})

t.test('the check for hidden words would see them', async (t) => {
  const shown = (value: string) => ({ type: 'text', value }) as const
  t.strictSame(hiddenWords('do not delete it', shown('do delete it')), ['not'])
  t.strictSame(hiddenWords('all of it, all', shown('all of it')), ['all'], 'it counts')
  t.strictSame(hiddenWords('caf&eacute;s rm&nbsp;all', shown('cafés')), ['rm', 'all'])
  t.strictSame(hiddenWords('```sh run id=x\nls\n```', shown('ls'), new Set([1])), [])
  t.strictSame(hiddenWords('3. a\n- [x] b\n> 4) c', shown('a b c')), [])
})

t.test('the facts of a step are those that differ from the defaults', async (t) => {
  const step = { id: 'a', language: 'sh' as const, cwd: '.', expect: [0], continue: false }
  const plain = { ...step, timeoutMs: null, proof: null, baseline: false, line: 1 }
  const rows: [parts: object, facts: string][] = [
    [{}, 'sh'],
    [{ timeoutMs: 500 }, 'sh · at most 500 ms'],
    [{ timeoutMs: 90_000 }, 'sh · at most 90 s'],
    [{ timeoutMs: 7_200_000 }, 'sh · at most 2 h'],
    [{ expect: [0, 2] }, 'sh · expects exit 0 or 2'],
    [{ expect: [1] }, 'sh · expects exit 1'],
    [{ proof: 'test' }, 'sh · proves: its output'],
    [{ proof: 'go', baseline: true }, 'sh · proves: test report (Go) · also runs before the work'],
    [{ isForAgent: true }, 'sh · for the agent, not run by Casefile'],
  ]
  for (const [parts, facts] of rows) t.equal(stepFacts({ ...plain, ...parts }).join(' · '), facts)
  const long = async (lines: number) => {
    const text = `\`\`\`sh run id=a\n${'ls\n'.repeat(lines)}\`\`\`\n`
    return html(text, { steps: [{ ...plain, script: 'ls\n'.repeat(lines) }] })
  }
  t.notMatch(await long(20), '20 lines')
  t.match(await long(21), 'sh · 21 lines')
})

t.test('most letters decide the direction', async (t) => {
  const rows: [text: string, direction: string | undefined][] = [
    ['abc', undefined],
    ['\u05d0b', 'ltr'],
    ['\u05d0\u05d1b', 'rtl'],
    ['\u05d0 12345', 'rtl'],
  ]
  for (const [text, direction] of rows) t.equal(directionOf(text), direction, text)
  t.equal(inOrder('rm \u05d0\u05d1/1'), 'rm \u05d0\u05d1\u200e/1')
})

t.test('a link', async (t) => {
  const outside = 'rel="noopener noreferrer nofollow" target="_blank"'
  const cases: [string, string, string][] = [
    ['to the web', '[a](https://x.org/b)', `<a href="https://x.org/b" ${outside}>a</a>`],
    ['that is meant as one', '[a](http:x.org)', `<a href="http://x.org/" ${outside}>a</a>`],
    ['to a mailbox', '<a@x.org>', '<a href="mailto:a@x.org">a@x.org</a>'],
    ['to a memory file', '[a](notes.md)', `<a href="${BASE}notes.md">a</a>`],
    [
      'to a memory file, with a dot',
      '[a](./notes.md#why)',
      `<a href="${BASE}notes.md#text-why">a</a>`,
    ],
    ['to a session', '[a](sessions/2.md)', `<a href="${BASE}2.md">a</a>`],
    ['to another folder', '[a](other/2.md)', '<span class="dead-link">a</span>'],
    ['to no session', '[a](sessions/x.md)', '<span class="dead-link">a</span>'],
    ['to what is no memory file', '[a](notes.txt)', '<span class="dead-link">a</span>'],
    ['to a place in the text', '[a](#why)', '<a href="#text-why">a</a>'],
    [
      'that is an image',
      '![a](https://x.org/b.png)',
      `<a class="image" href="https://x.org/b.png" ${outside}><span class="image-mark">image</span> a</a>`,
    ],
    [
      'around an image',
      '[![a](https://x.org/b.png)](https://x.org)',
      `<a href="https://x.org/" ${outside}><span class="image"><span class="image-mark">image</span> a</span></a>`,
    ],
    [
      'that is an image of this folder',
      '![a](b.png)',
      '<span class="image"><span class="image-mark">image</span> a</span>',
    ],
  ]
  for (const [name, text, expected] of cases) {
    t.test(name, async (t) => t.equal(await html(text), `<p>${expected}</p>`))
  }
  t.test('to a memory file where none are shown', async (t) => {
    t.equal(await renderMarkdown('[a](notes.md)'), '<p><span class="dead-link">a</span></p>')
  })
})

t.test('headings go down, and each has its own id', async (t) => {
  t.equal(
    await html('# Why, and *how*?\n## Why\n###### Why', { headingShift: 1 }),
    [
      '<h2 id="text-why-and-how">Why, and <em>how</em>?</h2>',
      '<h3 id="text-why">Why</h3>',
      '<h6 id="text-why-1">Why</h6>',
    ].join('\n'),
  )
  t.match(await html('# Größe', { idPrefix: 'plan-' }), /<h1 id="plan-größe">/)
})

t.test('a table can be scrolled and is named', async (t) => {
  t.match(
    await html('| a | b "c" |\n|--|:-:|\n| 1 | 2 |'),
    /^<div class="table-scroll" tabindex="0" role="region" aria-label="Table: a, b &#x22;c&#x22;"><table>/,
  )
})

t.test('the boxes of tasks are labelled by their own text', async (t) => {
  const labels = async (text: string) =>
    [...(await html(text)).matchAll(/<input [^>]*aria-label="([^"]*)"/g)].map(([, label]) => label)
  t.strictSame(await labels('- [x] a *b*\n  - [ ] c\n- [ ] d\n\n  e'), ['a b', 'c', 'd'])
})

t.test('what will run is marked, wherever it stands', async (t) => {
  const plan = `# Plan

\`\`\`sh
echo an example
\`\`\`

- list
  \`\`\`sh run id=test timeout=2m proof=tap
  npm test   <all>
  \`\`\`
> ~~~bash run cwd=a/b\u202e expect=0,2 continue=true
> a \u202e
> ~~~

[^1]: nobody refers to it

    \`\`\`js run
    1
    \`\`\`
`.replace('an example', 'an \\\n  example')
  const { steps, errors } = await readPlan(plan)
  t.strictSame(errors, [])
  const rendered = await html(plan, { steps })
  t.strictSame(others(rendered), [])
  const figures = [...rendered.matchAll(/<figure[\s\S]*?<\/figure>/g)].map(([figure]) => figure)
  const step = (number: number, id: string, facts: string, line: number, code: string) =>
    `<figure class="step" id="step-${id}" data-step="${id}"><figcaption>` +
    `<span class="step-number">${number}</span> <span class="step-id">${id}</span> ` +
    `<span class="step-facts">${facts}</span></figcaption>` +
    `<pre tabindex="0"><code><span class="code-line" data-line="${line}">${code}\n</span></code></pre></figure>`
  t.strictSame(figures, [
    step(
      1,
      'test',
      'sh · at most 2 min · proves: test report (TAP)',
      10,
      'npm <span class="hl-type">test</span>   &#x3C;all>',
    ),
    step(
      2,
      'step-2',
      'bash · in a/b[U+202E] · expects exit 0 or 2 · continues if it fails',
      13,
      'a [U+202E]',
    ),
    step(3, 'step-3', 'js', 19, '<span class="hl-number">1</span>'),
  ])
  t.match(
    rendered,
    /<pre tabindex="0"><code class="language-sh"><span class="hl-type">echo<\/span> an/,
  )
  await t.test('and it fails where a step is not at its line', async (t) => {
    await t.rejects(html('no fence', { steps }), /3 steps are not at their lines/)
  })
})

t.test('a step is in nothing; the lists and quotes around it go on after it', async (t) => {
  const step = (id: string, before: string) =>
    ['```sh run id=' + id, 'ls', '```'].map((line) => `${before}${line}\n`).join('')
  const fold = async (plan: string) => {
    const { steps } = await readPlan(plan)
    const rendered = await html(plan, { steps })
    return rendered.replace(/<figure.*?<\/figure>/gs, ' step ').replace(/\n/g, '')
  }
  t.equal(
    await fold(
      `3. a\n${step('x', '   ')}   b\n4. c\n\n   > d\n${step('y', '   > ')}5. ${step('z', '   ').trim()}\n6. e\n`,
    ),
    '<ol start="3"><li><p>a</p></li></ol> step ' +
      '<ol start="3"><li class="continued"><p>b</p></li>' +
      '<li><p>c</p><blockquote><p>d</p></blockquote></li></ol> step  step ' +
      '<ol start="6"><li><p>e</p></li></ol>',
  )
  t.equal(
    await fold(`> [^1]: a\n>\n${step('x', '>     ')}>\n>     b\n`),
    '<blockquote><div class="footnote" id="text-fn-1"><span class="footnote-label">[1]</span><p>a</p></div></blockquote>' +
      ' step <blockquote><div class="footnote"><p>b</p></div></blockquote>',
  )
})

t.test('letters from right to left reorder nothing', async (t) => {
  t.equal(
    await html('\u05d0 Do it. `rm \u05d0/1`\n\n\u05d0\u05d1\u05d2 a'),
    '<p dir="ltr">\u05d0 Do it. <code>rm <bdi>\u05d0</bdi>/1</code></p>\n<p dir="rtl">\u05d0\u05d1\u05d2 a</p>',
  )
  t.match(await html('```sh\necho \u05d0/1\n```'), '<bdi>\u05d0</bdi>/1')
})

t.test('a text that is too complex is null, and the next text is rendered', async (t) => {
  const text = `${'- '.repeat(10_000)}x`
  t.equal(await renderMarkdown(text), null)
  t.equal(await renderMarkdown(text), null, 'its answer is known')
  t.equal(await html('plain'), '<p>plain</p>')
})

t.test('a small text makes no huge page', async (t) => {
  const address = `https://x.org/${'a'.repeat(2000)}`
  const text = `${'[a] '.repeat(300)}\n\n[a]: ${address}`
  const rendered = await renderMarkdown(text)
  t.ok(rendered === null || rendered.length < 200_000, `${rendered?.length}`)
})

t.test('a text of the package links to its pages, and shows its pictures', async (t) => {
  const addresses = {
    'api.md': '/help/api',
    'images/a.png': '/help/images/a.png',
  }
  const page = (text: string) => html(text, { addresses, base: undefined })
  t.equal(
    await page('[a](api.md#get-cases) [b](../api.md) [c](constructor) [d](https://example.org/)'),
    '<p><a href="/help/api#text-get-cases">a</a> <span class="dead-link">b</span> <span class="dead-link">c</span> <a href="https://example.org/" rel="noopener noreferrer nofollow" target="_blank">d</a></p>',
  )
  const shown =
    '<a class="picture" href="/help/images/a.png"><img src="/help/images/a.png" alt="A list" loading="lazy"></a>'
  t.equal(await page('![A list](images/a.png)'), `<p>${shown}</p>`)
  t.match(await page('<img width="9" src="images/a.png" alt="A list">\n<!-- no -->'), shown)
  t.notMatch(await page('<script>a</script> <img src="https://example.org/a.png">'), /<img|script/)
})
