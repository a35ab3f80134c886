// A wedge of 0.1 x 0.2 x 0.3 m, the corner of a box, as the text of mesh files.
#pragma once

#include <array>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "core/math/linalg.hpp"
#include "tests/support/scratch_folder.hpp"

namespace costate::test {

using FileTriangle = std::array<Eigen::Vector3f, 3>;

inline std::vector<FileTriangle> wedge_triangles() {
    const Eigen::Vector3f o(0, 0, 0), x(0.1f, 0, 0), y(0, 0.2f, 0), z(0, 0, 0.3f);
    return {{o, y, x}, {o, x, z}, {o, z, y}, {x, y, z}};
}

inline std::string wedge_obj() {
    return "# a wedge\nv 0 0 0\nv 0.1 0 0\nv 0 0.2 0\nv 0 0 0.3\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
}

inline std::string ascii_stl(const std::vector<FileTriangle>& triangles) {
    std::ostringstream out;
    out << "solid wedge\n";
    for (const FileTriangle& t : triangles) {
        out << "  facet normal 0 0 0\n    outer loop\n";
        for (const Eigen::Vector3f& v : t)
            out << "      vertex " << v.x() << ' ' << v.y() << ' ' << v.z() << '\n';
        out << "    endloop\n  endfacet\n";
    }
    out << "endsolid wedge\n";
    return out.str();
}

// 80 bytes of any text, the number of triangles; per triangle the normal, the corners and two bytes.
// Little-endian, like the test machine.
inline std::string binary_stl(const std::vector<FileTriangle>& triangles) {
    std::string out(80, ' ');
    const auto put = [&](const auto& value) {
        out.append(reinterpret_cast<const char*>(&value), sizeof value);
    };
    put(static_cast<std::uint32_t>(triangles.size()));
    for (const FileTriangle& t : triangles) {
        for (int k = 0; k < 3; ++k)
            put(0.0f);
        for (const Eigen::Vector3f& v : t)
            for (int k = 0; k < 3; ++k)
                put(v[k]);
        put(std::uint16_t{0});
    }
    return out;
}

// In centimetres, z up. The node mirrors y, and the list of corners is mirrored back.
inline std::string wedge_dae() {
    return R"(<?xml version="1.0" encoding="utf-8"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
  <asset><unit name="centimeter" meter="0.01"/><up_axis>Z_UP</up_axis></asset>
  <library_geometries>
    <geometry id="wedge" name="wedge">
      <mesh>
        <source id="places">
          <float_array id="numbers" count="12">0 0 0 10 0 0 0 -20 0 0 0 30</float_array>
          <technique_common>
            <accessor source="#numbers" count="4" stride="3">
              <param name="X" type="float"/><param name="Y" type="float"/><param name="Z" type="float"/>
            </accessor>
          </technique_common>
        </source>
        <vertices id="corners"><input semantic="POSITION" source="#places"/></vertices>
        <triangles count="4">
          <input semantic="VERTEX" source="#corners" offset="0"/>
          <p>0 1 2 0 3 1 0 2 3 1 3 2</p>
        </triangles>
      </mesh>
    </geometry>
  </library_geometries>
  <library_visual_scenes>
    <visual_scene id="scene"><node id="node"><scale>1 -1 1</scale><instance_geometry url="#wedge"/></node></visual_scene>
  </library_visual_scenes>
  <scene><instance_visual_scene url="#scene"/></scene>
</COLLADA>
)";
}

}  // namespace costate::test
