import preset from '../../jest.preset.js';

export default { ...preset, displayName: 'evaluation', rootDir: import.meta.dirname };
