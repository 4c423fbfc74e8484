// Jest transformer: the same erasure that Node itself does, so that tests run what production runs.
const { stripTypeScriptTypes } = require('node:module');
const { createHash } = require('node:crypto');

module.exports = {
  process: (source) => ({ code: stripTypeScriptTypes(source) }),
  getCacheKey: (source, file) => createHash('sha1').update(process.version).update(file).update(source).digest('hex'),
};
