import { casefile } from './definitions/program.ts'
import { docsPage } from './docs-page.ts'

/** `npm run docs:cli` writes what this prints. */
process.stdout.write(docsPage(casefile({ version: '', sample: '', program: '' })))
