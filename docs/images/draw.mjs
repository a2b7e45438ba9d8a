/** Writes the drawings of the docs: `node docs/images/draw.mjs [folder]`. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { architecture } from './architecture.mjs'
import { concepts } from './concepts.mjs'

const folder = process.argv[2] ?? fileURLToPath(new URL('.', import.meta.url))
writeFileSync(join(folder, 'architecture.svg'), architecture)
writeFileSync(join(folder, 'concepts.svg'), concepts)
