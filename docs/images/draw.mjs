/** Writes the drawings of the docs again: `node docs/images/draw.mjs`. */
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { concepts } from './concepts.mjs'

/** By their file names. @type {Record<string, string>} */
export const DRAWINGS = {
  'concepts.svg': concepts,
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [name, text] of Object.entries(DRAWINGS)) {
    writeFileSync(new URL(name, import.meta.url), text)
  }
}
