/**
 * Loaded before the program at a build, by `node --require`: writes what V8 has made of each script when the program
 * ends, functions that were first called meanwhile included.
 */
const { writeFileSync } = require('node:fs')
const vm = require('node:vm')

const scripts = new Map()

vm.Script = class extends vm.Script {
  constructor(text, options) {
    super(text, options)
    if ('cachedData' in options) scripts.set(options.filename, this)
  }
}

process.on('exit', () => {
  for (const [filename, script] of scripts) {
    writeFileSync(`${filename}.compiled`, script.createCachedData())
  }
})
