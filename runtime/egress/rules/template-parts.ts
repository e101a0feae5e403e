/** Parts of a URL template: fixed text, `{settings.x}` placeholders, path segments. */
import type { Fields } from '../../contract/connector/settings.ts'
import { climbs, decodeSegment } from './path-segments.ts'

/** Part of a host or of a path segment: fixed text, or the value of a setting. */
export type Part = { text: string } | { setting: string }

/** Fault of a template: a text that continues the sentence `"<template>" ...`. */
export type TemplateFinding = string

/** Returns the segments of a template's path, or its fault. */
export function parsePath(
  text: string,
  fields: Fields,
): (readonly Part[] | null)[] | TemplateFinding {
  const segments = text.split('/').slice(1)
  if (segments.at(-1) === '') segments.pop()
  const path: (readonly Part[] | null)[] = []
  for (const segment of segments) {
    const parts = parseSegment(segment, fields)
    if (typeof parts === 'string') return parts
    path.push(parts)
  }
  return path
}

function parseSegment(segment: string, fields: Fields): readonly Part[] | null | TemplateFinding {
  if (segment === '*') return null
  if (segment === '') return 'has an empty path segment: write one / between segments'
  if (segment.includes('*')) return 'has a * inside a path segment: * stands for a whole segment'
  const parts = splitParts(segment)
  if (typeof parts === 'string') return parts
  for (const part of parts) {
    if ('text' in part) {
      const decoded = decodeSegment(part.text)
      if (decoded === null) return 'has a % that is no percent-encoding: write %25'
      part.text = decoded
      continue
    }
    const field = fields[part.setting]
    if (field === undefined) return undeclared(part.setting)
    if (field.type === 'boolean')
      return `has settings.${part.setting} in its path, which is a boolean: use a string or an integer`
    if (field.type === 'string' && field.secret === true) return secretSetting(part.setting)
  }
  if (climbs(parts.map((part) => ('text' in part ? part.text : 'x')).join('')))
    return 'has a . or .. segment: write the path that is meant'
  return parts
}

/** Splits text at its placeholders. */
export function splitParts(text: string): Part[] | TemplateFinding {
  const parts: Part[] = []
  for (const piece of text.split(/(\{[^{}]*\})/)) {
    const setting = /^\{settings\.([a-z][a-z0-9_]*)\}$/.exec(piece)?.[1]
    if (setting !== undefined) parts.push({ setting })
    else if (/[{}]/.test(piece))
      return `has ${piece}, which is no placeholder: write {settings.name}`
    else if (piece !== '') parts.push({ text: piece })
  }
  return parts
}

/** Returns the finding for a setting that is not in the manifest. */
export const undeclared = (setting: string): TemplateFinding =>
  `uses settings.${setting}, which is not declared: add it to "settings"`

/** Returns the finding for a secret setting. */
export const secretSetting = (setting: string): TemplateFinding =>
  `uses settings.${setting}, which is secret: an address is written to logs, use a setting that is not`
