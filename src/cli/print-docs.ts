import { docsPage } from './docs-page.ts'
import { casefile } from './program.ts'

/** `npm run docs:cli` writes what this prints. */
process.stdout.write(docsPage(casefile({ version: '', sample: '', program: '' })))
