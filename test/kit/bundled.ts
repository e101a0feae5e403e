/**
 * Programs that tests run as separate processes, each bundled into one file, because loading its sources one
 * by one takes seven times the processor time. The path is always the same, so that Node finds its compile
 * cache.
 */
import path from 'node:path'
import { bundleProgram } from '../../scripts/bundle.ts'

const FOLDER = path.join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'keyway-tests')

/** Bundles a program, given by its first source. Returns the bundle's file. */
export const bundled = (entry: string): Promise<string> => bundleProgram(entry, FOLDER)
