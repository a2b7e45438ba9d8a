import { fileURLToPath } from 'node:url'
import t from 'tap'
import { filesBelow } from '../fixtures/paths-below.ts'

const TABLE = 'client/main.ts'

/** Attributes in markup and selectors, and those that scripts reach as `dataset.someName`. */
function attributesIn(text: string): string[] {
  const names = text.matchAll(/(?<![\w-])data-[a-z]+(?:-[a-z]+)*(?=[=\]"'\s/>])/g)
  const properties = text.matchAll(/\bdataset\.([a-zA-Z]+)/g)
  return [
    ...[...names].map(([name]) => name),
    ...[...properties].map(([, name]) => {
      return `data-${name!.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
    }),
  ]
}

t.test(`each data attribute of the pages is in the table of ${TABLE}, once`, async (t) => {
  const documented: string[] = []
  const used = new Set<string>()
  for (const folder of ['web', 'rendering']) {
    const below = fileURLToPath(new URL(`../../src/${folder}/`, import.meta.url))
    for (const { path, bytes } of filesBelow(below)) {
      const text = bytes.toString()
      if (path.endsWith(TABLE))
        documented.push(
          ...[...text.matchAll(/^ \* {3}(data-[a-z-]+) {2}/gm)].map(([, name]) => name!),
        )
      else for (const name of attributesIn(text)) used.add(name)
    }
  }
  t.strictSame(documented, [...new Set(documented)], 'each has one meaning')
  t.strictSame([...used].sort(), documented.toSorted())
})
