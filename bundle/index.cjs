/** What `import { createService } from 'casefile'` gives: it lies in dist/ as index.js. */
exports.createService = require('./load.js').load('./embedded.js').createService
