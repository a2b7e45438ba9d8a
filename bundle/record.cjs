/**
 * Loaded before the program at a build, by `node --require`: writes what V8 has made of each script when the program
 * ends, functions that were first called meanwhile included, behind its sum.
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
  const { sumOf } = require('../dist/load.js')
  for (const [filename, script] of scripts) {
    const made = script.createCachedData()
    const sum = Buffer.alloc(4)
    sum.writeUInt32LE(sumOf(made))
    writeFileSync(`${filename}.compiled`, Buffer.concat([sum, made]))
  }
})
