/**
 * Loaded before the program at a build, by `node --require`: writes what V8 has made of each script when the program
 * ends, functions that were first called meanwhile included, behind its sum.
 */
const { writeFileSync } = require('node:fs')
const { basename } = require('node:path')
const vm = require('node:vm')

const scripts = new Map()

vm.Script = class extends vm.Script {
  constructor(text, options) {
    super(text, { ...options, filename: nameOf(options.filename) })
    if ('cachedData' in options) scripts.set(options.filename, this)
  }
}

/**
 * V8 keeps the name, and every stack trace shows it: a folder of the builder is none of the user's. A string that is
 * put together keeps the strings that it was made from, so it is copied.
 */
function nameOf(filename) {
  return Buffer.from(`casefile/dist/${basename(filename)}`).toString()
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
