import preset from '../../jest.preset.js';

export default { ...preset, displayName: 'tracing', rootDir: import.meta.dirname };
