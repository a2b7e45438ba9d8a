import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { XMLValidator } from 'fast-xml-parser'
import t from 'tap'

const images = fileURLToPath(new URL('../docs/images', import.meta.url))

t.test('the drawings of the docs are those that docs/images/draw.mjs makes', async (t) => {
  const drawn = t.testdir()
  execFileSync(process.execPath, [join(images, 'draw.mjs'), drawn])
  const names = readdirSync(images).filter((name) => name.endsWith('.svg'))
  t.strictSame(names, readdirSync(drawn))
  for (const name of names) {
    const text = readFileSync(join(images, name), 'utf8')
    t.ok(
      text === readFileSync(join(drawn, name), 'utf8'),
      `${name}, else: node docs/images/draw.mjs`,
    )
    t.equal(XMLValidator.validate(text), true, name)
    t.match(text, /<title id="title">.+<desc id="description">.+/s, `${name} has its text`)
  }
})
