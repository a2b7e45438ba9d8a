/**
 * Loaded before tap in a process of many files, without two things that tap does there. A file that runs alone keeps both.
 *
 * tap follows each promise to the test that made it (async-hook-domain), for errors that no test awaits. That takes a third
 * of the time of many tests: here `group.mjs` reports such an error, with its stack but at the end. And tap notes each module
 * that is loaded (processinfo), for coverage, in a thread that takes a second of CPU in each process.
 */
import hooks from 'node:async_hooks'
import modules, { syncBuiltinESMExports } from 'node:module'

const { createHook } = hooks
const followsNothing = { enable() {}, disable() {} }
hooks.createHook = (callbacks) =>
  new Error().stack.includes('async-hook-domain') ? followsNothing : createHook(callbacks)

const { register } = modules
modules.register = (specifier, ...options) =>
  String(specifier).includes('@tapjs/processinfo') ? undefined : register(specifier, ...options)
syncBuiltinESMExports()
