import fc from 'fast-check'
import t from 'tap'
import { useParser } from '../../src/markdown/parser-pool.ts'
import { highlightCode } from '../../src/rendering/highlight/code.ts'
import { highlightLines } from '../../src/rendering/highlight/highlight.ts'
import {
  LANGUAGES,
  languageOfFence,
  languageOfFile,
} from '../../src/rendering/highlight/languages.ts'
import { highlightSource } from '../../src/rendering/highlight/source.ts'
import { joinTokens, type Token } from '../../src/rendering/highlight/tokens.ts'
import { renderEverything } from '../../src/rendering/markdown/markdown.ts'

t.teardown(useParser())

/** As in `[keyword const] a = [number 1]`. */
function brief(tokens: readonly Token[] | null): string | undefined {
  return tokens?.map(({ text, kind }) => (kind ? `[${kind} ${text}]` : text)).join('')
}

t.test('code has its colours', async (t) => {
  const codes: [string, string, string][] = [
    [
      'js',
      'const a = `x` + 1 // c',
      '[keyword const] a = [string `x`] + [number 1] [comment // c]',
    ],
    ['sh', 'echo "$HOME" # x', '[type echo] [string "][attribute $HOME][string "] [comment # x]'],
    ['json', '{"a": true}', '{[attribute "a"]: [keyword true]}'],
    ['yaml', 'a: b', '[attribute a:] [string b]'],
    ['py', 'def f(): pass', '[keyword def] [title f](): [keyword pass]'],
    ['diff', '+a\n-b', '[added +a]\n[removed -b]'],
  ]
  for (const [name, code, expected] of codes) {
    t.equal(brief(highlightCode(code, languageOfFence(name)!)), expected, name)
  }
})

t.test('each language is one that the highlighter has', async (t) => {
  for (const language of LANGUAGES) t.ok(highlightCode('a', language), language)
  t.equal(languageOfFence('TypeScript'), 'typescript')
  t.equal(languageOfFence('constructor'), null)
  t.equal(languageOfFile('src/a.b.TSX'), 'typescript')
  t.equal(languageOfFile('Dockerfile'), 'dockerfile')
  t.equal(languageOfFile('go.mod'), 'go')
  t.equal(languageOfFile('LICENSE'), null)
  t.equal(languageOfFile('a/constructor'), null)
})

t.test('no character is hidden or changed', async (t) => {
  const piece = fc.constantFrom(
    ...[
      'a',
      '"',
      "'",
      '`',
      '\n',
      ' ',
      '\t',
      '{',
      '}',
      '(',
      ')',
      '<',
      '>',
      '/',
      '*',
      '\\',
      '$',
      '#',
    ],
    ...[
      '=',
      ':',
      '-',
      '+',
      '@',
      '1',
      '0x',
      '\r',
      '&amp;',
      '<b>',
      '---',
      '```',
      '```js\n',
      '\n---\n',
    ],
    ...['const ', 'def ', 'class A', 'fn ', 'EOF', '<<EOF\n', '\u202e', 'é', '𝒳', '\ud835', '\0'],
  )
  const code = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(''))
  fc.assert(
    fc.property(code, fc.constantFrom(...LANGUAGES), (text, language) => {
      const tokens = highlightCode(text, language)
      if (tokens) t.equal(joinTokens(tokens), text)
      const lines = highlightSource(text, language)
      if (lines) t.equal(lines.map(joinTokens).join('\n'), text)
    }),
    { numRuns: 40 },
  )
})

t.test('a plan with code in colours shows all of it', async (t) => {
  const word = fc.constantFrom(
    'a',
    'b1',
    '"',
    '$c',
    '\\n',
    '$(d)',
    '//',
    '#',
    ' ',
    '\n',
    '\u202e',
    '<e>',
  )
  const code = fc.array(word, { maxLength: 20 }).map((words) => words.join(''))
  await fc.assert(
    fc.asyncProperty(
      code,
      fc.constantFrom('sh', 'js', 'yaml', 'py', 'html', 'md'),
      async (text, name) => {
        const rendered = await renderEverything(`\`\`\`${name}\n${text}\n\`\`\`\n`)
        t.strictSame(rendered?.hidden, [])
        const plain = await renderEverything(`\`\`\`none\n${text}\n\`\`\`\n`)
        t.equal(textOf(rendered!.html), textOf(plain!.html).replace('none', name))
      },
    ),
    { numRuns: 20 },
  )
})

function textOf(html: string): string {
  return html.replace(/<[^>]*>/g, '')
}

t.test('a source of markdown has the colours of its fences', async (t) => {
  const source = '---\na: 1\n---\n# T\n\n- x\n  ```js run id=a\n  let b\n  ```\nend'
  t.strictSame(highlightSource(source, 'markdown')!.map(brief), [
    '[meta ---]',
    '[attribute a:] [number 1]',
    '[meta ---]',
    '[title # T]',
    '',
    '[number -] x',
    '[meta   ```js run id=a]',
    '  [keyword let] b',
    '[meta   ```]',
    'end',
  ])
})

t.test('a shorter fence within one closes nothing', async (t) => {
  const lines = highlightSource('````diff\n+a\n```\n+b\n````\nend', 'markdown')!
  t.strictSame(
    [lines[1], lines[3], lines[5]].map((line) => brief(line!)),
    ['[added +a]', '[added +b]', 'end'],
  )
})

t.test('what is too large is plain', async (t) => {
  t.equal(await highlightLines(['a'.repeat(1001)], 'javascript'), null)
  t.equal(await highlightLines(Array(5001).fill('a'), 'javascript'), null)
  t.equal((await highlightLines(['let a', ''], 'javascript'))?.length, 2)
})
