import { existsSync, readFileSync } from 'node:fs'
import t from 'tap'
import { readPage } from './fixtures/doc-code.ts'

const page = readPage('test/RELIABILITY.md')
const [promises = '', others = ''] = page.split('\n## What does not apply\n')

/** A text in the source, between any quotes. */
const TEXT = String.raw`('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|${'`(?:[^`\\\\]|\\\\.)*`'})`
const TITLES = [
  new RegExp(String.raw`\b(?:t\.test|inBrowser)\(\s*${TEXT}`, 'g'),
  new RegExp(String.raw`\bconst name = ${TEXT}\s+t\.test\(name\b`, 'g'),
]

/** What fits the titles of the tests in a file; what a title takes from a table may be anything. */
function titlesIn(source: string): RegExp[] {
  const found = TITLES.flatMap((title) => [...source.matchAll(title)].map(([, text = '']) => text))
  const parts = found.map((text) => text.slice(1, -1).split(/\$\{[^}]*\}/))
  return parts
    .filter((fixed) => fixed.join('').length > 5)
    .map((fixed) => new RegExp(`^${fixed.map(escaped).join('.+')}$`))
}

const escaped = (text: string) =>
  text.replace(/\\(.)/g, '$1').replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)

/** The promises, each with its ids and with the lines that name its tests. */
function listed() {
  const bullets = promises.split(/^- /m).slice(1)
  return bullets.map((bullet) => {
    const [prose = '', ...tests] = bullet.split(/^ {2}- /m)
    const ids = [...prose.matchAll(/\(([A-Z]{2,3}-\d+)\)/g)].map(([, id]) => id!)
    const named = tests.map((text) => {
      const line = text.split('\n\n')[0]!.replace(/\s+/g, ' ')
      const [, file = '', rest = ''] = /^`(test\/\S+\.ts)`: (.*)$/.exec(line) ?? []
      const titles = rest.match(/"[^"]+"/g) ?? []
      return { line, file, titles: titles.map((title) => title.slice(1, -1)) }
    })
    return { prose, ids, named }
  })
}

t.test('the register names tests that are there', async (t) => {
  const all = listed()
  t.ok(all.length > 50, `${all.length} promises`)
  for (const { prose, ids, named } of all) {
    t.test(ids.join() || prose, async (t) => {
      t.equal(ids.length, 1, 'it has one id')
      t.ok(named.length > 0, 'it names a test')
      for (const { line, file, titles } of named) {
        if (!t.ok(file && existsSync(place(file)), `a file: ${line}`)) continue
        t.ok(titles.length > 0, `titles: ${line}`)
        const there = titlesIn(readFileSync(place(file), 'utf8'))
        for (const title of titles)
          t.ok(
            there.some((fits) => fits.test(title)),
            `${file}: "${title}"`,
          )
      }
    })
  }
})

t.test('it says each thing once', async (t) => {
  const ids = listed().flatMap(({ ids }) => ids)
  t.strictSame(
    ids.filter((id, index) => ids.indexOf(id) !== index),
    [],
  )
  t.match(others, /^\| [A-Z]{2,3}-\d+(?:, [A-Z]{2,3}-\d+)*: /m)
  t.notMatch(others, 'test/', 'what does not apply names no test')
})

t.test('a title is found as it stands, and no other', async (t) => {
  const source = `
    t.test('it\\'s one', async (t) => {
      await t.test(
        "another, of two lines",
    for (const n of some) t.test(\`number \${n} of them\`, work)
    const name = \`with \${a.b} at last\`
    t.test(name, options)
    t.test(\`\${name}\`, work)
    inBrowser('seen in a page', work)`
  const fits = (title: string) => titlesIn(source).some((each) => each.test(title))
  for (const title of ["it's one", 'another, of two lines', 'number 3 of them'])
    t.ok(fits(title), title)
  for (const title of ['with 4 at last', 'seen in a page']) t.ok(fits(title), title)
  for (const title of ['another', 'number  of', 'anything at all', 'its one'])
    t.notOk(fits(title), title)
})

function place(file: string): URL {
  return new URL(`../${file}`, import.meta.url)
}
