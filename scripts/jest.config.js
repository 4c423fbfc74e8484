import preset from '../jest.preset.js';

export default { ...preset, displayName: 'scripts', rootDir: import.meta.dirname };
