import { readFileSync } from 'node:fs'
import t from 'tap'
import { TOKEN_KINDS, tokenClass } from '../../src/rendering/highlight/tokens.ts'

const style = (name: string) =>
  readFileSync(new URL(`../../src/web/style/${name}.css`, import.meta.url), 'utf8')

/** Of each colour the light and the dark one. */
const colours = new Map(
  [...style('tokens').matchAll(/--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)/g)].map(
    ([, name, light, dark]) => [name!, [light!, dark!]] as const,
  ),
)

function luminance(colour: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!
}

function contrast(one: string, other: string): number {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (light! + 0.05) / (dark! + 0.05)
}

const LINES = ['surface', 'sunken', 'added', 'removed']
const WORDS = ['added-word', 'removed-word']

t.test('code in colours can be read on all grounds that code has', async (t) => {
  t.equal(contrast('#000000', '#ffffff'), 21)
  const names = [...colours.keys()].filter((name) => name.startsWith('code-'))
  t.ok(names.length > 5)
  const check = (name: string, grounds: readonly string[]) => {
    for (const ground of grounds) {
      for (const scheme of [0, 1]) {
        const reached = contrast(colours.get(name)![scheme]!, colours.get(ground)![scheme]!)
        t.ok(reached >= 4.5, `${name} on ${ground}: ${reached}`)
      }
    }
  }
  for (const name of [...names, 'text', 'muted', 'good', 'bad']) check(name, LINES)
  // a comment has the colour of text there
  for (const name of names.filter((name) => name !== 'code-comment')) check(name, WORDS)
  check('text', WORDS)
})

t.test('each kind of token has its colour', async (t) => {
  for (const kind of TOKEN_KINDS) t.match(style('highlight'), `.${tokenClass(kind)} {`)
})
